/**
 * Prometheus remote_write v1 as a protocol (SPEC §4.1): what it accepts, and how its senders are
 * told what was stored. https://prometheus.io/docs/specs/prw/remote_write_spec
 */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits, Protocol, Reply } from '../../model/protocol.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { createRemoteWriteDecoder } from './decode.ts';

export interface RemoteWriteOptions {
  /** As it travels. */
  readonly maxBodyBytes: number;
  readonly maxInflatedBytes: number;
  readonly limits: DecodeLimits;
  readonly labels: LabelLimits;
}

/** A body is held inflated, as rows, and once more while it is written to the queue. */
const heapBytesPerBodyByte = 4;
/** Some 350,000 series with labels of 150 bytes. */
const memo = { maxBytes: 128 * 1024 * 1024, maxSeries: 500_000 };
const plainText = 'text/plain; charset=utf-8';

/**
 * Messages of 2.0 have another `proto` and are refused with 415, upon which senders may fall back
 * to v1. Errors travel as problem+json, on one line: senders log the first line of an answer.
 */
export function createRemoteWrite(options: RemoteWriteOptions): Protocol {
  const { maxBodyBytes, maxInflatedBytes, labels } = options;
  const decode = createRemoteWriteDecoder({
    labels,
    maxLabelBytes: 2 * maxInflatedBytes,
    memo,
  });
  return {
    name: 'remote_write',
    kind: 'prometheus',
    mediaTypes: [
      { name: 'application/x-protobuf', parameters: { proto: ['prometheus.writerequest'] } },
    ],
    codings: ['snappy'],
    maxBodyBytes,
    limits: options.limits,
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxBodyBytes, inflated: maxInflatedBytes }),
    decode: (body, _format, context) => decode(body, context),
    reply,
  };
}

/**
 * 204, or 400 where a part was rejected, which no sender repeats; the rest is stored all the same.
 * Either says what was written, as 2.0 has it.
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

/** One line, the reasons first: some senders log no more than 256 bytes of it. */
function describeRejections({ rows, rejected, rejectedCount, rejectedByReason }: Batch): string {
  const reasons = [...rejectedByReason].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const stored = rows === 0 ? 'nothing was stored' : `the other ${rows} are stored`;
  const all = `cannot store ${rejectedCount} of ${rejectedCount + rows} records (${reasons})`;
  const [first] = rejected;
  const example = first === undefined ? '' : `; time series ${first.index}: ${first.reason}`;
  return `${all}, ${stored}${example}\n`;
}
