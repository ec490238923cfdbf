/** The rows of a batch of logs as a read of the table returns them. Pure. */
import { RowReader } from '../../codec/row-reader.ts';
import type { StampedBatch } from '../../model/batch.ts';
import { toTie } from '../../model/log-id.ts';
import type { LogRow } from '../sql/log-record.ts';

/** @param batch of layout `logs/1` */
export function toLogRows({ id, owner, receivedAtNanos, payload }: StampedBatch): LogRow[] {
  const reader = new RowReader(payload);
  const received = String(receivedAtNanos);
  const rows: LogRow[] = [];
  // In the order of `logRowFields`, which never changes.
  while (reader.hasMore()) {
    const time = reader.int64();
    const observed = reader.int64();
    const severity = reader.text();
    const severityNumber = reader.uint8();
    const serviceName = reader.text();
    const serviceNamespace = reader.text();
    const host = reader.text();
    const message = reader.text();
    const trace = [reader.text(), reader.text(), reader.uint8()] as const;
    const kubernetes = [
      reader.text(),
      reader.text(),
      reader.text(),
      reader.text(),
      reader.text(),
      reader.text(),
    ] as const;
    const attributes = [toAttributes(reader), toAttributes(reader)] as const;
    reader.string();
    const scope = [reader.text(), reader.text()] as const;
    reader.string();
    toAttributes(reader);
    rows.push([
      time < 0n ? received : String(time),
      String(toTie(id.writer, id.sequence, rows.length)),
      observed < 0n ? received : String(observed),
      received,
      owner.streamId,
      owner.receiverId,
      severity,
      severityNumber,
      message,
      serviceName,
      serviceNamespace,
      host,
      ...attributes,
      ...kubernetes,
      ...trace,
      reader.text(),
      ...scope,
    ]);
  }
  return rows;
}

/** From entries, since a label may be called `__proto__`. */
function toAttributes(reader: RowReader): Readonly<Record<string, string>> {
  return Object.fromEntries(reader.labels());
}
