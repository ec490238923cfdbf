/**
 * Logs for the benchmark: typical service output of 200 to 600 bytes; services, hosts and
 * severities in Zipf proportions; some multi-line, some out of order. A seed determines every byte
 * except the timestamps, which are written into the body before sending.
 */
import { createRandom, type Random } from '../test/harness/random.ts';
import { createZipf, hex } from './draws.ts';

export interface Corpus {
  readonly bodies: readonly Body[];
  /** Words that occur in one event of the corpus each. */
  readonly needles: readonly string[];
}

/** An event of the JSON receiver, without its timestamp. */
export interface LogEvent {
  readonly severity: string;
  readonly service_name: string;
  readonly host: string;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A request body with timestamps to fill in. Sent by one connection at a time. */
export interface Body {
  readonly bytes: Buffer;
  readonly events: number;
  readonly timeForm: TimeForm;
  readonly times: readonly TimeSlot[];
}

/** ISO 8601 of 24 characters, Unix ns in 19 digits, or a protobuf fixed64. */
export type TimeForm = 'iso' | 'nanos' | 'fixed64';

export interface TimeSlot {
  /** Offset of the timestamp. */
  readonly offset: number;
  /** How far behind the time of sending the event is. */
  readonly lagMs: number;
}

const timeLength = 24;
const blankTime = '0'.repeat(timeLength);
const severities = ['INFO', 'DEBUG', 'WARN', 'ERROR', 'TRACE', 'FATAL'] as const;
const verbs = ['accepted', 'loaded', 'stored', 'rejected', 'retried', 'forwarded', 'expired'];
const nouns = ['order', 'session', 'invoice', 'payment', 'basket', 'shipment', 'profile', 'token'];
const regions = ['eu-central-1', 'eu-west-1', 'us-east-1', 'us-west-2', 'ap-south-1'];

export function createCorpus(seed: number, bodies: number, eventsPerBody: number): Corpus {
  const random = createRandom(seed);
  const nextEvent = createEventSource(random);
  const needles: string[] = [];
  const made = Array.from({ length: bodies }, () => {
    const needle = `needle${hex(random, 12)}`;
    needles.push(needle);
    const at = random.integer(0, eventsPerBody - 1);
    return toBody(
      Array.from({ length: eventsPerBody }, (_, index) => {
        const event = nextEvent();
        const message = event.message + (index === at ? ` ${needle}` : '');
        return { timestamp: blankTime, ...event, message };
      }),
      random,
    );
  });
  return { bodies: made, needles };
}

/** Draws one event after another. */
export function createEventSource(random: Random): () => LogEvent {
  const services = createZipf(
    random,
    40,
    (rank) => `${nouns[rank % nouns.length] ?? ''}-service-${rank}`,
  );
  const hosts = createZipf(
    random,
    200,
    (rank) => `node-${String(rank).padStart(3, '0')}.weir.test`,
  );
  const levels = createZipf(random, severities.length, (rank) => severities[rank] ?? 'INFO');
  return () => ({
    severity: levels(),
    service_name: services(),
    host: hosts(),
    message: toMessage(random),
    labels: labels(random),
  });
}

/** Writes the timestamps in place. */
export function stampBody(body: Body, nowMs: number): void {
  let stamped = -1;
  let time: Buffer = Buffer.alloc(0);
  for (const { offset, lagMs } of body.times) {
    if (lagMs !== stamped) {
      stamped = lagMs;
      time = toTime(nowMs - lagMs, body.timeForm);
    }
    time.copy(body.bytes, offset);
  }
}

function toTime(unixMs: number, form: TimeForm): Buffer {
  switch (form) {
    case 'iso':
      return Buffer.from(new Date(unixMs).toISOString());
    case 'nanos':
      return Buffer.from(`${unixMs}000000`);
    case 'fixed64': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(unixMs) * 1_000_000n);
      return bytes;
    }
  }
}

function toBody(events: readonly object[], random: Random): Body {
  const bytes = Buffer.from(
    events.length === 1 ? JSON.stringify(events[0]) : JSON.stringify(events),
  );
  const times: TimeSlot[] = [];
  for (
    let at = bytes.indexOf(blankTime);
    at !== -1;
    at = bytes.indexOf(blankTime, at + timeLength)
  ) {
    const isLate = random.next() < 0.05;
    times.push({ offset: at, lagMs: isLate ? random.integer(1, 30_000) : 0 });
  }
  return { bytes, events: events.length, timeForm: 'iso', times };
}

function toMessage(random: Random): string {
  const verb = random.pick(verbs as [string, ...string[]]);
  const noun = random.pick(nouns as [string, ...string[]]);
  const head = `${verb} ${noun} ${hex(random, 8)} for customer ${random.integer(1, 90_000)}`;
  const kind = random.next();
  if (kind < 0.04) {
    const frames = Array.from(
      { length: random.integer(2, 4) },
      () => `    at ${verb}${noun} (/srv/app/${noun}.js:${random.integer(1, 900)}:13)`,
    );
    return [`Error: cannot have ${head}`, ...frames].join('\n');
  }
  const took = `in ${random.integer(1, 2_000)} ms, attempt ${random.integer(1, 3)}`;
  if (kind < 0.6) return `${head} ${took}`;
  const query = `q=${hex(random, 10)}&page=${random.integer(1, 40)}&session=${hex(random, 24)}`;
  return `${head} ${took}: GET /api/${noun}s/${random.integer(1, 1e6)}?${query} HTTP/1.1 200`;
}

function labels(random: Random): Record<string, string> {
  return {
    env: random.next() < 0.9 ? 'production' : 'staging',
    region: random.pick(regions as [string, ...string[]]),
    version: `1.${random.integer(0, 9)}.${random.integer(0, 3)}`,
    status: random.pick(['200', '200', '200', '201', '404', '500']),
    request_id: hex(random, 16),
  };
}
