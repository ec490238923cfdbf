/** The route in OpenAPI. */
import { z } from 'zod';
import type { IngestDescription } from '../../model/protocol.ts';

export const description: IngestDescription = {
  operationId: 'remoteWrite',
  summary: 'Send samples by Prometheus remote_write 1.0',
  details:
    'Accepts a `prometheus.WriteRequest`, compressed as one snappy block ' +
    '(https://prometheus.io/docs/specs/prw/remote_write_spec/). If some samples are ' +
    'invalid, the others are stored and the response is 400. Samples may be sent again: the ' +
    'last write for a time wins.',
  request: {
    'application/x-protobuf': {
      schema: z.string().meta({
        description: 'prometheus.WriteRequest, snappy block format',
        contentMediaType: 'application/x-protobuf',
      }),
    },
  },
  answers: { 204: { description: 'Everything is durable.' } },
};

export const descriptionV2: IngestDescription = {
  ...description,
  operationId: 'remoteWriteV2',
  summary: 'Send samples by Prometheus remote_write 2.0',
  details:
    'Accepts an `io.prometheus.write.v2.Request`, compressed as one snappy block ' +
    '(https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/). If some samples are ' +
    'invalid, the others are stored and the response is 400. Samples may be sent again: the ' +
    'last write for a time wins. Messages of version 1 belong to the route of version 1.',
  request: {
    'application/x-protobuf;proto=io.prometheus.write.v2.Request': {
      schema: z.string().meta({
        description: 'io.prometheus.write.v2.Request, snappy block format',
        contentMediaType: 'application/x-protobuf',
      }),
    },
  },
  answers: {
    204: {
      description: 'Everything is durable.',
      headers: {
        'X-Prometheus-Remote-Write-Samples-Written': 'Stored samples.',
        'X-Prometheus-Remote-Write-Histograms-Written': 'Stored native histograms.',
        'X-Prometheus-Remote-Write-Exemplars-Written': 'Stored exemplars.',
      },
    },
  },
};
