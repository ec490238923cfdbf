/** The lines of a bulk request that say what to do with the document in the next line. */
import { AppError } from '../../../model/errors.ts';

/** An action and the beginning of its item in the answer. */
export interface BulkAction {
  /** False for actions that change documents, which logs never do. */
  readonly isTaken: boolean;
  /** False for `delete`. */
  readonly hasDocument: boolean;
  readonly index: Buffer | undefined;
  readonly id: Buffer | undefined;
  /** `{"create":{"_index":"a"` */
  readonly item: string;
  /** The whole item of a stored document. */
  readonly stored: string;
}

const operations: ReadonlySet<string> = new Set(['create', 'index', 'update', 'delete']);
/** As in Elasticsearch. An index in the path is in each row and in each item of the answer. */
const maxBytes: Readonly<Record<string, number>> = { _index: 255, _id: 512 };

/**
 * @param text one line. @param pathIndex index of the URL, for actions without one
 * @throws AppError `malformed`: Elasticsearch refuses such a request as a whole
 */
export function parseAction(text: string, line: number, pathIndex: string | undefined): BulkAction {
  const [operation, metadata] = Object.entries(readObject(text) ?? {})[0] ?? [];
  const isMetadata = typeof metadata === 'object' && metadata !== null;
  if (operation === undefined || !operations.has(operation) || !isMetadata) {
    throw new AppError(
      'malformed',
      `cannot read the action in line ${line}: it is no object with "create" or "index"`,
    );
  }
  const { _index: index = pathIndex, _id: id } = metadata as Record<string, unknown>;
  const names = {
    ...(typeof index === 'string' && { _index: index }),
    ...(typeof id === 'string' && { _id: id }),
  };
  for (const [name, value] of Object.entries(names)) {
    const most = maxBytes[name]!;
    if (Buffer.byteLength(value) <= most) continue;
    throw new AppError(
      'malformed',
      `cannot accept the action in line ${line}: ${name} has over ${most} bytes`,
    );
  }
  const item = `{"${operation}":${JSON.stringify(names).slice(0, -1)}`;
  return {
    isTaken: operation === 'create' || operation === 'index',
    hasDocument: operation !== 'delete',
    index: toBytes(names._index),
    id: toBytes(names._id),
    item,
    stored: endItem(item, '"result":"created","status":201'),
  };
}

/** The item of a document that was not stored. */
export function rejectedItem({ item }: BulkAction, type: string, reason: string): string {
  return endItem(item, `"status":400,"error":${JSON.stringify({ type, reason })}`);
}

function endItem(item: string, members: string): string {
  return `${item}${item.endsWith('{') ? '' : ','}${members}}}`;
}

function readObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // The caller names the line.
    return undefined;
  }
}

function toBytes(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text);
}
