/** Push requests of Loki in both encodings, independent of Weir's code. */
import { bytesField, text, varintField } from '../harness/proto-wire.ts';

export interface LokiEntry {
  /** Unix ns. */
  readonly time: bigint;
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface LokiStream {
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: readonly LokiEntry[];
}

export function lokiJson(streams: readonly LokiStream[]): Buffer {
  const request = {
    streams: streams.map(({ labels, entries }) => ({
      stream: labels,
      values: entries.map(({ time, line, metadata }) => [
        String(time),
        line,
        ...(metadata === undefined ? [] : [metadata]),
      ]),
    })),
  };
  return Buffer.from(JSON.stringify(request));
}

/** `logproto.PushRequest` without snappy. */
export function lokiProtobuf(streams: readonly LokiStream[]): Buffer {
  return Buffer.concat(
    streams.map(({ labels, entries }) => {
      const pairs = Object.entries(labels).map(([name, value]) => {
        return `${name}=${JSON.stringify(value)}`;
      });
      const fields = entries.map((entry) => bytesField(2, toEntry(entry)));
      return bytesField(1, Buffer.concat([text(1, `{${pairs.join(', ')}}`), ...fields]));
    }),
  );
}

function toEntry({ time, line, metadata = {} }: LokiEntry): Buffer {
  const seconds = varintField(1, time / 1_000_000_000n);
  const nanos = varintField(2, time % 1_000_000_000n);
  const pairs = Object.entries(metadata).map(([name, value]) =>
    bytesField(3, Buffer.concat([text(1, name), text(2, value)])),
  );
  return Buffer.concat([bytesField(1, Buffer.concat([seconds, nanos])), text(2, line), ...pairs]);
}
