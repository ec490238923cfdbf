/**
 * The logs of the corpus as OTLP, grouped under one resource per service as in a collector's batch.
 * Timestamps are filled in later.
 */
import type { Body, TimeSlot } from './corpus.ts';

interface CorpusEvent {
  readonly severity: string;
  readonly service_name: string;
  readonly host: string;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Placed {
  readonly event: CorpusEvent;
  readonly lagMs: number;
}

const blankNanos = '0'.repeat(19);
/** Bytes that occur in no event. */
const blankFixed = Buffer.alloc(8, 0xff);

/** `ExportLogsServiceRequest` as JSON. */
export function toOtlpJson(body: Body): Body {
  const groups = groupsOf(body);
  const resourceLogs = [...groups].map(([service, placed]) => ({
    resource: { attributes: attributes(resourceOf(service, placed)) },
    scopeLogs: [
      {
        scope: { name: 'bench' },
        logRecords: placed.map(({ event }) => ({
          timeUnixNano: blankNanos,
          severityText: event.severity,
          body: { stringValue: event.message },
          attributes: attributes(event.labels),
        })),
      },
    ],
  }));
  const bytes = Buffer.from(JSON.stringify({ resourceLogs }));
  return { bytes, events: body.events, timeForm: 'nanos', times: slots(bytes, blankNanos, groups) };
}

/** `ExportLogsServiceRequest` as protobuf. */
export function toOtlpProtobuf(body: Body): Body {
  const groups = groupsOf(body);
  const bytes = Buffer.concat(
    [...groups].map(([service, placed]) => {
      const records = placed.map(({ event }) => field(2, recordOf(event)));
      const resource = field(1, keyValues(1, resourceOf(service, placed)));
      return field(1, resource, field(2, field(1, text(1, 'bench')), ...records));
    }),
  );
  const times = slots(bytes, blankFixed, groups);
  return { bytes, events: body.events, timeForm: 'fixed64', times };
}

/** A gRPC message: five bytes of framing, then the message. */
export function toGrpc(body: Body): Body {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(body.bytes.length, 1);
  const times = body.times.map(({ offset, lagMs }) => ({ offset: offset + 5, lagMs }));
  return { ...body, bytes: Buffer.concat([frame, body.bytes]), times };
}

function recordOf(event: CorpusEvent): Buffer {
  return Buffer.concat([
    Buffer.from([0x09]),
    blankFixed,
    text(3, event.severity),
    field(5, text(1, event.message)),
    keyValues(6, event.labels),
  ]);
}

function groupsOf(body: Body): ReadonlyMap<string, readonly Placed[]> {
  const parsed = JSON.parse(body.bytes.toString()) as CorpusEvent | CorpusEvent[];
  const events = Array.isArray(parsed) ? parsed : [parsed];
  const placed = events.map((event, i) => ({ event, lagMs: body.times[i]?.lagMs ?? 0 }));
  return Map.groupBy(placed, ({ event }) => event.service_name);
}

function resourceOf(service: string, [first]: readonly Placed[]): Record<string, string> {
  return { 'service.name': service, 'host.name': first?.event.host ?? '' };
}

function attributes(labels: Readonly<Record<string, string>>) {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

function keyValues(number: number, labels: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(labels).map(([key, value]) =>
      field(number, text(1, key), field(2, text(1, value))),
    ),
  );
}

/** Offsets of the timestamps, in event order. */
function slots(
  bytes: Buffer,
  blank: string | Buffer,
  groups: ReadonlyMap<string, readonly Placed[]>,
): TimeSlot[] {
  const found: TimeSlot[] = [];
  let at = 0;
  for (const { lagMs } of [...groups.values()].flat()) {
    const offset = bytes.indexOf(blank, at);
    found.push({ offset, lagMs });
    at = offset + blank.length;
  }
  return found;
}

function text(number: number, value: string): Buffer {
  return field(number, Buffer.from(value));
}

/** A length-delimited field of protobuf. */
function field(number: number, ...pieces: readonly Buffer[]): Buffer {
  const content = Buffer.concat(pieces);
  const head = [number * 8 + 2];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), content]);
}
