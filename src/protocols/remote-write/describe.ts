/** The route in OpenAPI. */
import { z } from 'zod';
import type { IngestDescription } from '../../model/protocol.ts';

export const description: IngestDescription = {
  operationId: 'remoteWrite',
  summary: 'Send samples by Prometheus remote_write 1.0',
  details:
    'Takes a `prometheus.WriteRequest`, compressed as one snappy block ' +
    '(https://prometheus.io/docs/specs/prw/remote_write_spec/). Where some samples cannot be ' +
    'taken, the others are stored all the same and the answer is 400. The same samples may be ' +
    'sent again: the last one written at a time counts.',
  request: {
    'application/x-protobuf': {
      schema: z.string().meta({
        description: 'prometheus.WriteRequest, snappy block format',
        contentMediaType: 'application/x-protobuf',
      }),
    },
  },
  answers: {
    204: {
      description: 'Everything is durable.',
      headers: {
        'X-Prometheus-Remote-Write-Samples-Written': 'Samples taken.',
        'X-Prometheus-Remote-Write-Histograms-Written': 'Native histograms taken.',
        'X-Prometheus-Remote-Write-Exemplars-Written': 'Exemplars taken.',
      },
    },
  },
};
