/**
 * Logs in memory as bytes of the row layout `logs/1`, a sixth of what they take as texts. Fields
 * are decoded when they are asked for. Pure.
 */
import { logRowFields } from '../../codec/log-rows.ts';
import { RowReader } from '../../codec/row-reader.ts';
import type { StampedBatch } from '../../model/batch.ts';
import { toTie } from '../../model/log-id.ts';
import type { LogRow } from '../sql/log-record.ts';
import type { PlacedRow } from './stream-rows.ts';

const types = logRowFields.map(([, type]) => type);
const fieldIndex = (wanted: (typeof logRowFields)[number][0]) =>
  logRowFields.findIndex(([name]) => name === wanted);

/** Places in the layout of the fields of a `LogRow` after those that a batch has in common. */
const layoutIndexes = (
  [
    'severityText',
    'severityNumber',
    'body',
    'serviceName',
    'serviceNamespace',
    'host',
    'logAttributes',
    'resourceAttributes',
    'k8sCluster',
    'k8sNamespace',
    'k8sNode',
    'k8sPod',
    'k8sContainer',
    'k8sDeployment',
    'traceId',
    'spanId',
    'traceFlags',
    'eventName',
    'scopeName',
    'scopeVersion',
  ] as const
).map(fieldIndex);
const firstIndex = 6;
const timesBytes = 16;

/** What rows of one receipt have in common. */
interface Receipt {
  readonly nanos: bigint;
  readonly streamId: string;
  readonly receiverId: string;
}

class PackedRow implements PlacedRow {
  readonly bytes = 0;
  readonly shared: RowReader;
  readonly timeNanos: bigint;
  readonly tie: bigint;
  readonly #receipt: Receipt;
  readonly #start: number;

  constructor(shared: RowReader, start: number, timeNanos: bigint, tie: bigint, receipt: Receipt) {
    this.shared = shared;
    this.#start = start;
    this.timeNanos = timeNanos;
    this.tie = tie;
    this.#receipt = receipt;
  }

  get receivedNanos(): bigint {
    return this.#receipt.nanos;
  }

  at<Index extends keyof LogRow & number>(index: Index): LogRow[Index];
  at(index: number): LogRow[number] {
    if (index < firstIndex) return this.#ownField(index);
    const field = layoutIndexes[index - firstIndex]!;
    this.shared.position = this.#start + timesBytes;
    for (let before = 2; before < field; before += 1) skip(this.shared, types[before]!);
    return read(this.shared, types[field]!);
  }

  row(): LogRow {
    const { shared } = this;
    shared.position = this.#start + timesBytes;
    const fields: LogRow[number][] = ['', ''];
    for (let field = 2; field < types.length; field += 1) fields.push(read(shared, types[field]!));
    const row: LogRow[number][] = [];
    for (let index = 0; index < firstIndex; index += 1) row.push(this.#ownField(index));
    for (const field of layoutIndexes) row.push(fields[field]!);
    return row as unknown as LogRow;
  }

  #ownField(index: number): string {
    switch (index) {
      case 0:
        return String(this.timeNanos);
      case 1:
        return String(this.tie);
      case 2: {
        this.shared.position = this.#start + timesBytes / 2;
        const observed = this.shared.int64();
        return String(observed < 0n ? this.receivedNanos : observed);
      }
      case 3:
        return String(this.receivedNanos);
      case 4:
        return this.#receipt.streamId;
      default:
        return this.#receipt.receiverId;
    }
  }
}

/** @param batch of layout `logs/1`; its payload is copied */
export function packBatch({ id, owner, receivedAtNanos, payload }: StampedBatch): PlacedRow[] {
  const { streamId, receiverId } = owner;
  const receipt: Receipt = { nanos: receivedAtNanos, streamId, receiverId };
  const reader = new RowReader(new Uint8Array(payload));
  const rows: PlacedRow[] = [];
  while (reader.hasMore()) {
    const start = reader.position;
    const time = reader.int64();
    passRest(reader);
    const tie = toTie(id.writer, id.sequence, rows.length);
    rows.push(new PackedRow(reader, start, time < 0n ? receivedAtNanos : time, tie, receipt));
  }
  return rows;
}

/** @param result of `compilePackedList` */
export function packResult(result: Buffer, streamId: string): PlacedRow[] {
  const reader = new RowReader(result);
  const rows: PlacedRow[] = [];
  let receipt: Receipt | undefined;
  while (reader.hasMore()) {
    const tie = reader.uint64();
    const nanos = reader.int64();
    const receiverId = reader.text();
    if (receipt?.nanos !== nanos || receipt.receiverId !== receiverId) {
      receipt = { nanos, streamId, receiverId };
    }
    const start = reader.position;
    const time = reader.int64();
    passRest(reader);
    rows.push(new PackedRow(reader, start, time, tie, receipt));
  }
  return rows;
}

/** The fields after the event time. */
function passRest(reader: RowReader): void {
  for (let field = 1; field < types.length; field += 1) skip(reader, types[field]!);
}

type FieldType = (typeof types)[number];

function skip(reader: RowReader, type: FieldType): void {
  switch (type) {
    case 'String':
      return reader.skipString();
    case 'Map(String, String)':
      return reader.skipLabels();
    case 'UInt8':
      reader.position += 1;
      return;
    case 'Int64':
      reader.position += 8;
  }
}

function read(reader: RowReader, type: FieldType): LogRow[number] {
  switch (type) {
    case 'String':
      return reader.text();
    case 'Map(String, String)':
      return readLabels(reader);
    case 'UInt8':
      return reader.uint8();
    case 'Int64':
      return String(reader.int64());
  }
}

function readLabels(reader: RowReader): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (let count = reader.varint(); count > 0; count -= 1) {
    const key = reader.text();
    const value = reader.text();
    // Such a label would set the prototype.
    if (key === '__proto__') Object.defineProperty(labels, key, { value, ...plain });
    else labels[key] = value;
  }
  return labels;
}

const plain = { enumerable: true, configurable: true, writable: true };
