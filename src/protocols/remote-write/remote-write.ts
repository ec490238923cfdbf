/**
 * Prometheus remote_write v1 (SPEC §4.1, prometheus.io/docs/specs/prw/remote_write_spec) and v2
 * (prometheus.io/docs/specs/prw/remote_write_spec_2_0), each on a separate route.
 */
import { MetricWriter } from '../../codec/metric-writer.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import type {
  AnswerDescription,
  DecodeContext,
  IngestDescription,
  Protocol,
  Reply,
} from '../../model/protocol.ts';
import { type DecodingOptions, WriteRequestDecoding } from './decode.ts';
import { RequestV2 } from './symbol-request.ts';
import { TimeSeries } from './time-series.ts';
import { z } from 'zod';
import { decodeLimits, describeRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';

/** The inflated body, its rows, and their copy while they are appended to the queue. */
const heapBytesPerBodyByte = 4;
/** Labels are written out; a body of few samples and long labels grows most. */
const heapBytesPerBodyByteV2 = 16;
/** About 350,000 series with labels of 150 bytes. */
const memoOptions = { maxBytes: 128 * 1024 * 1024, maxSeries: 500_000 };
const plainText = 'text/plain; charset=utf-8';

/**
 * Messages of the other version have another `proto` parameter and fail with 415, so that senders
 * fall back. Errors are problem+json on one line: senders log the first line of an answer.
 */
export function createRemoteWrite({ ingest, metrics }: Config): [v1: Protocol, v2: Protocol] {
  const { remoteWriteMaxBodyBytes: maxBodyBytes } = ingest;
  const { remoteWriteMaxInflatedBytes: maxInflatedBytes } = ingest;
  const decoders = createRemoteWriteDecoders({
    labels: metrics,
    maxLabelBytes: 2 * maxInflatedBytes,
    maxInflatedBytes,
    memo: memoOptions,
  });
  const shared = {
    kind: 'prometheus',
    codings: ['snappy'],
    maxBodyBytes,
    limits: decodeLimits(ingest.remoteWriteMaxSamples),
    bodyCaps: () => ({ wireBytes: maxBodyBytes, inflatedBytes: maxInflatedBytes }),
  } as const;
  const name = 'application/x-protobuf';
  return [
    {
      ...shared,
      name: 'remote_write',
      http: { path: 'prometheus/api/v1/write', description },
      formatAdvice: 'messages of remote_write 2.0 belong to …/prometheus/api/v2/write',
      mediaTypes: [{ name, parameters: { proto: ['prometheus.writerequest'] } }],
      heapBytesPerBodyByte,
      decode: (body, _format, context) => decoders.v1(body, context),
      reply,
    },
    {
      ...shared,
      name: 'remote_write_v2',
      http: { path: 'prometheus/api/v2/write', description: descriptionV2 },
      formatAdvice:
        'with proto=io.prometheus.write.v2.Request; messages of remote_write 1.0 belong to ' +
        '…/prometheus/api/v1/write',
      // Without the parameter a message is of version 1.
      mediaTypes: [
        { name, parameters: { proto: ['io.prometheus.write.v2.request'] }, required: ['proto'] },
      ],
      heapBytesPerBodyByte: heapBytesPerBodyByteV2,
      decode: (body, _format, context) => decoders.v2(body, context),
      reply: (batch) => ({ ...reply(batch), headers: toWrittenHeaders(batch) }),
    },
  ];
}

/**
 * 204, or 400 if records were rejected: senders do not retry it, and the accepted records are
 * stored.
 */
function reply(batch: Batch): Reply {
  if (batch.rejectedCount === 0) return { status: 204, contentType: undefined, body: '' };
  const [first] = batch.rejected;
  const example = first === undefined ? '' : `; time series ${first.index}: ${first.reason}`;
  // One line: some senders log only 256 bytes of it.
  const body = `${describeRejections(batch, 'records')}${example}\n`;
  return { status: 400, contentType: plainText, body };
}

/** Senders take them as the sign of a receiver of version 2. */
function toWrittenHeaders({ written }: Batch): Readonly<Record<string, string>> {
  const { samples = 0, histograms = 0, exemplars = 0 } = written ?? {};
  return {
    'x-prometheus-remote-write-samples-written': String(samples),
    'x-prometheus-remote-write-histograms-written': String(histograms),
    'x-prometheus-remote-write-exemplars-written': String(exemplars),
  };
}

const rejected: AnswerDescription = {
  description: 'malformed request; or, as text, some records were rejected and the others stored.',
  content: { 'text/plain': { schema: z.string() } },
};

const description: IngestDescription = {
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
  answers: { 204: { description: 'Everything is durable.' }, 400: rejected },
};

const descriptionV2: IngestDescription = {
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
    400: rejected,
  },
};

type Decode = (body: Buffer, context: DecodeContext) => Batch | Promise<Batch>;

interface RemoteWriteDecoders {
  readonly v1: Decode;
  readonly v2: Decode;
}

/**
 * If one request has two samples of a series at one time, both are written in order and the store
 * keeps the last.
 *
 * The decoders throw AppError `malformed` for a body that is not a request, and `too_large` for
 * more records or labels than the limits. Invalid series and records are rejected one by one.
 */
export function createRemoteWriteDecoders(
  options: DecodingOptions & { readonly maxInflatedBytes: number },
): RemoteWriteDecoders {
  const { labels, maxLabelBytes, maxInflatedBytes: maxBytes } = options;
  const memo = new SeriesMemo(options.memo);
  const decodeInSlices = createSlicedDecoder(() => {
    const writer = new MetricWriter();
    const series = new TimeSeries(labels.maxLabels);
    const clear = () => {
      writer.clear();
      series.clear();
    };
    return { writer, series, memo, labels, maxLabelBytes, clear };
  });
  return {
    v1: (body, context) =>
      decodeInSlices(function* (workspace) {
        const decoding = new WriteRequestDecoding(context, workspace);
        yield* decoding.read(body);
        return decoding.finish();
      }),
    v2: (body, context) =>
      decodeInSlices(function* (workspace) {
        const decoding = new WriteRequestDecoding(context, workspace);
        const { maxEvents: maxSeries } = context.limits;
        const request = new RequestV2(body, { labels, maxBytes, maxSeries });
        for (;;) {
          const { piece, isLast } = request.next();
          yield* decoding.read(piece);
          if (isLast) return decoding.finish();
          yield;
        }
      }),
  };
}
