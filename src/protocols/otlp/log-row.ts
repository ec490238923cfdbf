/** Writes OTLP log records as `logs/1` rows. Resource and scope are encoded once and copied. */
import type { EventTime } from '../../codec/event-time.ts';
import { RowWriter } from '../../codec/row-writer.ts';
import { type AttributeSet, columnKeys } from './attribute-set.ts';
import type { IdSlot, LogRecord, LogResource, LogScope, TextSlot } from './log-record.ts';
import { LogSeverity } from './log-fields.ts';

/** Service name, service namespace and host; the Kubernetes columns follow the body. */
const leadingColumns = 3;
/** Upper bound for times, number, flags, ids and lengths. */
const fixedBytes = 160;
/** Larger records are rejected: they would delay the store for other data. */
export const maxRowBytes = 16 * 1024 * 1024;

const nothing: Buffer = Buffer.alloc(0);

/** The times of a row; undefined = the time of receipt. */
export interface RowTimes {
  readonly time: EventTime | undefined;
  readonly observedTime: EventTime | undefined;
}

export class LogRowWriter {
  readonly #rows: RowWriter;
  readonly #parts = new RowWriter();
  readonly #severity = new LogSeverity();
  #resource: AttributeSet | undefined;
  /** Encoded resource: leading columns, Kubernetes columns, attributes and schema. */
  #resourcePart = nothing;
  #kubernetesAt = 0;
  #attributesAt = 0;
  #scopePart = nothing;

  constructor(rows: RowWriter) {
    this.#rows = rows;
  }

  setResource(resource: LogResource): void {
    const { attributes } = resource;
    const parts = this.#parts;
    this.#resource = attributes;
    parts.reserve(2 * attributes.rowBytes + resource.schemaUrl.length + fixedBytes);
    for (let column = 0; column < leadingColumns; column += 1) {
      writeColumn(parts, attributes, column);
    }
    this.#kubernetesAt = parts.length;
    for (let column = leadingColumns; column < columnKeys.length; column += 1) {
      writeColumn(parts, attributes, column);
    }
    this.#attributesAt = parts.length;
    writeAttributes(parts, attributes);
    writeText(parts, resource.schemaUrl);
    this.#resourcePart = parts.finish();
  }

  setScope(scope: LogScope): void {
    const parts = this.#parts;
    const textBytes = scope.name.length + scope.version.length + scope.schemaUrl.length;
    parts.reserve(scope.attributes.rowBytes + textBytes + fixedBytes);
    writeText(parts, scope.name);
    writeText(parts, scope.version);
    writeText(parts, scope.schemaUrl);
    writeAttributes(parts, scope.attributes);
    this.#scopePart = parts.finish();
  }

  /** Releases resource and scope. */
  release(): void {
    this.#resource = undefined;
    this.#resourcePart = nothing;
    this.#scopePart = nothing;
  }

  /** @returns false, without writing, if the row would exceed `maxRowBytes` */
  write(record: LogRecord, { time, observedTime }: RowTimes): boolean {
    const rows = this.#rows;
    const { attributes } = record;
    const severity = this.#severity;
    severity.read(record.severityText, record.severityNumber);
    const rowBytes =
      fixedBytes +
      severity.text.length +
      record.body.length +
      record.eventName.length +
      // An attribute that fills a column is in the row twice.
      (attributes.hasColumns ? 2 : 1) * attributes.rowBytes +
      this.#resourcePart.length +
      this.#scopePart.length;
    if (rowBytes > maxRowBytes) return false;
    rows.reserve(rowBytes);
    rows.time(time);
    rows.time(observedTime);
    writeText(rows, severity.text);
    rows.byte(severity.number);
    if (attributes.hasColumns) this.#writeColumns(attributes, 0, leadingColumns);
    else rows.raw(this.#resourcePart, 0, this.#kubernetesAt);
    writeText(rows, record.body);
    writeId(rows, record.traceId);
    writeId(rows, record.spanId);
    rows.byte(record.flags & 0xff);
    if (attributes.hasColumns) this.#writeColumns(attributes, leadingColumns, columnKeys.length);
    else rows.raw(this.#resourcePart, this.#kubernetesAt, this.#attributesAt);
    writeAttributes(rows, attributes);
    rows.raw(this.#resourcePart, this.#attributesAt, this.#resourcePart.length);
    rows.raw(this.#scopePart, 0, this.#scopePart.length);
    writeText(rows, record.eventName);
    return true;
  }

  /** Attributes of the record fill columns that the resource does not. */
  #writeColumns(attributes: AttributeSet, from: number, to: number): void {
    for (let column = from; column < to; column += 1) {
      const ofResource = this.#resource?.fills(column) === true;
      writeColumn(this.#rows, ofResource ? this.#resource! : attributes, column);
    }
  }
}

function writeColumn(rows: RowWriter, attributes: AttributeSet, column: number): void {
  const index = attributes.columns[column]!;
  if (index < 0) rows.byte(0);
  else writeValue(rows, attributes, index);
}

function writeAttributes(rows: RowWriter, attributes: AttributeSet): void {
  const { count, keySource, keyStart, keyEnd } = attributes;
  rows.varint(count);
  for (let index = 0; index < count; index += 1) {
    rows.bytes(keySource[index]!, keyStart[index]!, keyEnd[index]!);
    writeValue(rows, attributes, index);
  }
}

function writeValue(rows: RowWriter, attributes: AttributeSet, index: number): void {
  const { valueSource, valueStart, valueEnd } = attributes;
  rows.bytes(valueSource[index]!, valueStart[index]!, valueEnd[index]!);
}

function writeText(rows: RowWriter, text: TextSlot): void {
  rows.bytes(text.source, text.start, text.end);
}

function writeId(rows: RowWriter, id: IdSlot): void {
  if (id.isPresent) rows.bytes(id.hex, 0, id.hex.length);
  else rows.byte(0);
}
