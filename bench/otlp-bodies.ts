/**
 * The logs and metrics of the corpora as OTLP, grouped under one resource per service or target as
 * in a collector's batch. Timestamps are filled in later.
 */
import type { Body, LogEvent, TimeSlot } from './corpus.ts';
import type { CorpusSeries } from './metric-corpus.ts';

interface Placed {
  readonly event: LogEvent;
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

/** `ExportMetricsServiceRequest` as protobuf: a point of each series, with its current value. */
export function toOtlpMetrics(series: readonly CorpusSeries[]): Body {
  const targets = Map.groupBy(series, ({ labels }) => new Map(labels).get('instance'));
  const bytes = Buffer.concat([...targets.values()].map(toResourceMetrics));
  const times: TimeSlot[] = [];
  for (let from = 0; ; ) {
    const offset = bytes.indexOf(blankFixed, from);
    if (offset < 0) break;
    times.push({ offset, lagMs: 0 });
    from = offset + blankFixed.length;
  }
  return { bytes, events: series.length, timeForm: 'fixed64', times };
}

const cumulative = Buffer.from([0x10, 2]);
const monotonic = Buffer.from([0x18, 1]);

function toResourceMetrics(series: readonly CorpusSeries[]): Buffer {
  const { job = '', instance = '', namespace = '', pod = '' } = labelsOf(series[0]);
  const resource = {
    'service.name': job,
    'service.instance.id': instance,
    'k8s.namespace.name': namespace,
    'k8s.pod.name': pod,
  };
  const families = Map.groupBy(series, (one) => labelsOf(one)['__name__'] ?? '');
  const metrics = [...families].map(([name, members]) => {
    const points = members.map((one) => field(1, pointOf(one)));
    const data =
      members[0]?.kind === 'counter'
        ? field(7, ...points, cumulative, monotonic)
        : field(5, ...points);
    return field(2, text(1, name), data);
  });
  const scope = field(1, text(1, 'bench'));
  return field(1, field(1, keyValues(1, resource)), field(2, scope, ...metrics));
}

function pointOf(series: CorpusSeries): Buffer {
  const { handler = '', shard = '' } = labelsOf(series);
  const value = Buffer.alloc(9, 0x21);
  value.writeDoubleLE(series.value, 1);
  return Buffer.concat([keyValues(7, { handler, shard }), Buffer.from([0x19]), blankFixed, value]);
}

function labelsOf(series: CorpusSeries | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(series?.labels ?? []);
}

/** A gRPC message: five bytes of framing, then the message. */
export function toGrpc(body: Body): Body {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(body.bytes.length, 1);
  const times = body.times.map(({ offset, lagMs }) => ({ offset: offset + 5, lagMs }));
  return { ...body, bytes: Buffer.concat([frame, body.bytes]), times };
}

function recordOf(event: LogEvent): Buffer {
  return Buffer.concat([
    Buffer.from([0x09]),
    blankFixed,
    text(3, event.severity),
    field(5, text(1, event.message)),
    keyValues(6, event.labels),
  ]);
}

function groupsOf(body: Body): ReadonlyMap<string, readonly Placed[]> {
  const parsed = JSON.parse(body.bytes.toString()) as LogEvent | LogEvent[];
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
