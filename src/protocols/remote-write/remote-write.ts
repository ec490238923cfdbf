/** Prometheus remote_write v1 (SPEC §4.1, prometheus.io/docs/specs/prw/remote_write_spec). */
import { maxListedRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { Protocol, Reply } from '../../model/protocol.ts';
import { createRemoteWriteDecoder } from './decode.ts';
import { description } from './describe.ts';

/** The inflated body, its rows, and their copy while they are appended to the queue. */
const heapBytesPerBodyByte = 4;
/** About 350,000 series with labels of 150 bytes. */
const memo = { maxBytes: 128 * 1024 * 1024, maxSeries: 500_000 };
const plainText = 'text/plain; charset=utf-8';

/**
 * Messages of remote_write 2.0 have another `proto` parameter and fail with 415, so that senders
 * fall back to v1. Errors are problem+json on one line: senders log the first line of an answer.
 */
export function createRemoteWrite({ ingest, metrics }: Config): Protocol {
  const { remoteWriteMaxBodyBytes: maxBodyBytes } = ingest;
  const { remoteWriteMaxInflatedBytes: maxInflatedBytes } = ingest;
  const decode = createRemoteWriteDecoder({
    labels: metrics,
    maxLabelBytes: 2 * maxInflatedBytes,
    memo,
  });
  return {
    name: 'remote_write',
    kind: 'prometheus',
    http: { path: 'prometheus/api/v1/write', description },
    mediaTypes: [
      { name: 'application/x-protobuf', parameters: { proto: ['prometheus.writerequest'] } },
    ],
    codings: ['snappy'],
    maxBodyBytes,
    limits: {
      maxEvents: ingest.remoteWriteMaxSamples,
      maxDepth: 1,
      maxRejections: maxListedRejections,
    },
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxBodyBytes, inflated: maxInflatedBytes }),
    decode: (body, _format, context) => decode(body, context),
    reply,
  };
}

/**
 * 204, or 400 if records were rejected: senders do not retry it, and the accepted records are
 * stored. Both report the written counts in the headers of remote_write 2.0.
 */
function reply(batch: Batch): Reply {
  const { samples = 0, histograms = 0, exemplars = 0 } = batch.written ?? {};
  const headers = {
    'x-prometheus-remote-write-samples-written': String(samples),
    'x-prometheus-remote-write-histograms-written': String(histograms),
    'x-prometheus-remote-write-exemplars-written': String(exemplars),
  };
  if (batch.rejectedCount === 0) {
    return { status: 204, contentType: undefined, body: '', headers };
  }
  return { status: 400, contentType: plainText, body: describeRejections(batch), headers };
}

/** One line with the reasons first: some senders log only 256 bytes. */
function describeRejections({ rows, rejected, rejectedCount, rejectedByReason }: Batch): string {
  const reasons = [...rejectedByReason].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const stored = rows === 0 ? 'nothing was stored' : `the other ${rows} are stored`;
  const all = `cannot store ${rejectedCount} of ${rejectedCount + rows} records (${reasons})`;
  const [first] = rejected;
  const example = first === undefined ? '' : `; time series ${first.index}: ${first.reason}`;
  return `${all}, ${stored}${example}\n`;
}
