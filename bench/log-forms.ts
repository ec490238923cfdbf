/** The logs of the corpus in the forms of other log systems, for decoders: times are fixed. */
import type { Body, LogEvent } from './corpus.ts';

const seconds = 1_795_341_600.123;
const nanos = '1795341600123000000';

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

function inForm({ bytes, events }: Body, write: (events: readonly LogEvent[]) => string): Body {
  const list = JSON.parse(bytes.toString()) as readonly LogEvent[];
  return { bytes: Buffer.from(write(list)), events, timeForm: 'iso', times: [] };
}
