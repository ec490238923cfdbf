/** The logs of the corpus in the forms of other log systems. Times are those of the start. */
import { encode } from '@msgpack/msgpack';
import { lokiProtobuf } from '../test/protocols/loki-push.ts';
import type { Body, LogEvent } from './corpus.ts';

const startMs = Date.now();
const seconds = startMs / 1000;
const nanos = `${startMs}000000`;

export function toLines(body: Body): Body {
  return inForm(body, (events) => events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

/** One stream, as of an agent of one application. */
export function toLoki(body: Body): Body {
  return inForm(body, (events) => {
    const values = events.map(({ message, labels }) => [nanos, message, labels]);
    return JSON.stringify({ streams: [{ stream: { app: 'bench' }, values }] });
  });
}

export function toBulk(body: Body): Body {
  const action = '{"create":{"_index":"logs-bench-default"}}';
  return inForm(body, (events) =>
    events.map((event) => `${action}\n${JSON.stringify(event)}\n`).join(''),
  );
}

export function toHec(body: Body): Body {
  return inForm(body, (events) =>
    events
      .map((event) =>
        JSON.stringify({ time: seconds, host: event.host, sourcetype: 'bench', event }),
      )
      .join(''),
  );
}

export function toGelf(body: Body): Body {
  return inForm(body, (events) =>
    events
      .map(({ message, host, service_name, labels }) => {
        const fields = Object.entries({ ...labels, service: service_name });
        return JSON.stringify({
          version: '1.1',
          host,
          short_message: message,
          level: 6,
          timestamp: seconds,
          ...Object.fromEntries(fields.map(([name, value]) => [`_${name}`, value])),
        });
      })
      .join('\n'),
  );
}

/** Protobuf without snappy. */
export function toLokiProtobuf(body: Body): Body {
  return inForm(body, (events) => {
    const entries = events.map(({ message, labels }) => ({
      time: BigInt(nanos),
      line: message,
      metadata: labels,
    }));
    return lokiProtobuf([{ labels: { app: 'bench' }, entries }]);
  });
}

/** As of systemd: labels are fields in upper case. */
export function toJournal(body: Body): Body {
  return inForm(body, (events) =>
    events
      .map(({ message, host, service_name, labels }) => {
        const text = message.replaceAll('\n', ' ');
        const fields = Object.entries(labels).map(
          ([name, value]) => `${name.toUpperCase()}=${value}\n`,
        );
        return (
          `__REALTIME_TIMESTAMP=${startMs}000\nPRIORITY=6\n_HOSTNAME=${host}\n` +
          `SYSLOG_IDENTIFIER=${service_name}\n${fields.join('')}MESSAGE=${text}\n\n`
        );
      })
      .join(''),
  );
}

/** Octet-counted messages of RFC 5424, with the labels as structured data. */
export function toSyslog(body: Body): Body {
  const time = new Date(startMs).toISOString();
  return inForm(body, (events) =>
    events
      .map(({ message, host, service_name, labels }) => {
        const data = Object.entries(labels).map(([name, value]) => ` ${name}="${value}"`);
        const text = `<14>1 ${time} ${host} ${service_name} 1 - [a@1${data.join('')}] ${message}`;
        return `${Buffer.byteLength(text)} ${text}`;
      })
      .join(''),
  );
}

/** Identifies a message of Forward; its last digits change with each sending. */
export const chunk = 'bench-chunk-00000000000000';

/** A message of Fluent Forward in the mode Forward. */
export function toForward(body: Body): Body {
  const time = Math.floor(seconds);
  return inForm(body, (events) => {
    const entries = events.map(({ severity, service_name, host, message, labels }) => [
      time,
      { severity, service_name, host, message, ...labels },
    ]);
    return Buffer.from(encode(['bench', entries, { chunk }]));
  });
}

/** A line of the protocol of InfluxDB for each event. */
export function toInflux(body: Body): Body {
  return inForm(body, (events) =>
    events
      .map(({ host, service_name }, n) => `took,host=${host},service=${service_name} ms=${n}\n`)
      .join(''),
  );
}

export function toStatsd(body: Body): Body {
  return inForm(body, (events) =>
    events.map(({ service_name }, n) => `took.${service_name}:${n}|c|#region:eu\n`).join(''),
  );
}

function inForm(
  { bytes, events }: Body,
  write: (events: readonly LogEvent[]) => string | Buffer,
): Body {
  const list = JSON.parse(bytes.toString()) as readonly LogEvent[];
  return { bytes: toBytes(write(list)), events, timeForm: 'iso', times: [] };
}

function toBytes(written: string | Buffer): Buffer {
  return typeof written === 'string' ? Buffer.from(written) : written;
}
