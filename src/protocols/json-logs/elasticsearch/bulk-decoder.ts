/**
 * Decodes bulk requests of Elasticsearch: a line with an action, and one with its document. A
 * document that cannot be stored is rejected alone, and its item of the answer says why.
 */
import { AppError } from '../../../model/errors.ts';
import { type BodyText, repairText } from '../../../codec/body-text.ts';
import { openBrace } from '../../../codec/json-scanner.ts';
import { createSlicedDecoder, sliceBytes, type Slices } from '../../../codec/sliced-decoder.ts';
import type { Batch } from '../../../model/batch.ts';
import type { DecodeLimits } from '../../../model/protocol.ts';
import { brokenEventCost, EventBatch, EventWorkspace } from '../event-batch.ts';
import type { EventSlots } from '../event-fields.ts';
import { documents, EventReader } from '../event-reader.ts';
import { findFault } from '../event-row.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const maxActionBytes = 4096;
const indexLabel = Buffer.from('_index');
const idLabel = Buffer.from('_id');
/** Bytes of the labels beside their values. */
const nameBytes = 32;

export type BulkDecoder = (
  body: Buffer,
  pathIndex: string | undefined,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for an action that cannot be read, and `too_large` for
 * more than `maxEvents` actions.
 */
export function createBulkDecoder(): BulkDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, pathIndex, limits) =>
    decodeInSlices((workspace) =>
      new BulkDecoding(repairText(body), workspace, pathIndex, limits).decode(),
    );
}

class BulkDecoding {
  readonly #body: Buffer;
  readonly #slots: EventSlots;
  readonly #pathIndex: string | undefined;
  readonly #reader: EventReader;
  readonly #batch: EventBatch;
  readonly #items: string[] = [];
  #at = 0;
  /** Where other requests have a turn. */
  #sliceEnd = 0;
  #line = 1;
  /** The last action and its range: senders repeat it with each document. */
  #action: BulkAction | undefined;
  #actionStart = 0;
  #actionEnd = 0;

  constructor(
    text: BodyText,
    workspace: EventWorkspace,
    pathIndex: string | undefined,
    limits: DecodeLimits,
  ) {
    const { bytes } = text;
    this.#body = bytes;
    this.#slots = workspace.slots;
    this.#pathIndex = pathIndex;
    this.#reader = new EventReader(bytes, workspace.slots, limits.maxDepth, documents);
    this.#batch = new EventBatch(bytes, workspace, limits);
    this.#batch.warnOf(text);
  }

  *decode(): Slices<Batch> {
    this.#sliceEnd = sliceBytes;
    while (this.#at < this.#body.length) {
      if (this.#at >= this.#sliceEnd) {
        yield;
        this.#sliceEnd = this.#at + sliceBytes;
      }
      const end = this.#endOfLine(this.#at);
      const start = this.#skipBlanks(this.#at, end);
      if (start < end) this.#readAction(start, end);
      else this.#nextLine(end);
    }
    if (this.#items.length === 0) {
      throw new AppError('malformed', 'cannot find an action: the request is empty');
    }
    return { ...this.#batch.finishEvenEmpty(), items: this.#items.join(',') };
  }

  /** @param end of the line */
  #readAction(start: number, end: number): void {
    const action = this.#actionOf(start, end);
    if (!action.hasDocument) {
      this.#reject(action, illegalArgument, notTaken);
      this.#nextLine(end);
      return;
    }
    this.#nextLine(end);
    if (this.#at >= this.#body.length) {
      throw new AppError(
        'malformed',
        `cannot find the document of the action in line ${this.#line - 1}`,
      );
    }
    const documentEnd = this.#endOfLine(this.#at);
    if (action.isTaken) this.#readDocument(action, documentEnd);
    else this.#reject(action, illegalArgument, notTaken);
    this.#nextLine(documentEnd);
  }

  #actionOf(start: number, end: number): BulkAction {
    const known = this.#action;
    const isSame =
      known !== undefined &&
      end - start === this.#actionEnd - this.#actionStart &&
      this.#body.compare(this.#body, this.#actionStart, this.#actionEnd, start, end) === 0;
    if (isSame) return known;
    if (end - start > maxActionBytes) {
      throw new AppError(
        'malformed',
        `cannot read the action in line ${this.#line}: it has over ${maxActionBytes} bytes`,
      );
    }
    const text = this.#body.toString('utf8', start, end);
    const action = parseAction(text, this.#line, this.#pathIndex);
    this.#action = action;
    this.#actionStart = start;
    this.#actionEnd = end;
    return action;
  }

  #readDocument(action: BulkAction, lineEnd: number): void {
    const start = this.#skipBlanks(this.#at, lineEnd);
    if (start >= lineEnd || this.#body[start] !== openBrace) {
      this.#reject(action, unreadable, 'the document is not an object');
      return;
    }
    const fault = this.#readFields(start, lineEnd);
    if (fault !== undefined) {
      this.#reject(action, unreadable, fault.reason, fault.detail);
      return;
    }
    const { index, id } = action;
    if (index !== undefined) this.#addLabel(indexLabel, index);
    if (id !== undefined) this.#addLabel(idLabel, id);
    this.#batch.write(lineEnd - start);
    this.#items.push(action.stored);
  }

  #readFields(start: number, lineEnd: number): { reason: string; detail: string } | undefined {
    try {
      const end = this.#reader.read(start);
      if (end > lineEnd || this.#skipBlanks(end, lineEnd) < lineEnd) {
        return { reason: 'not JSON', detail: 'the document is not one object in one line' };
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#sliceEnd -= brokenEventCost;
      return { reason: 'not JSON', detail: error.message };
    }
    const fault = findFault(this.#slots);
    return fault === '' ? undefined : { reason: fault, detail: '' };
  }

  /** A field of this name in the document stays instead. */
  #addLabel(name: Buffer, value: Buffer): void {
    const label = this.#slots.labels.keep(name);
    if (label < 0) return;
    this.#slots.labels.give(label, value);
    this.#slots.addedBytes += nameBytes + value.length;
  }

  #reject(action: BulkAction, type: string, reason: string, detail = ''): void {
    const example = detail === '' ? `line ${this.#line}` : `line ${this.#line}: ${detail}`;
    this.#batch.reject(reason, example);
    this.#items.push(rejectedItem(action, type, `${reason}: ${example}`));
  }

  /**
   * Not past the line: many blank lines would be read again for each of them.
   * @returns the position of the first byte that is no blank, or `lineEnd`
   */
  #skipBlanks(at: number, lineEnd: number): number {
    while (at < lineEnd && isBlank(this.#body[at])) at += 1;
    return at;
  }

  #endOfLine(at: number): number {
    const end = this.#body.indexOf(newline, at);
    const last = end < 0 ? this.#body.length : end;
    return last > at && this.#body[last - 1] === carriageReturn ? last - 1 : last;
  }

  /** @param end of this line, before its line break */
  #nextLine(end: number): void {
    const at = this.#body.indexOf(newline, end);
    this.#at = at < 0 ? this.#body.length : at + 1;
    this.#line += 1;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab || byte === carriageReturn;
}

const unreadable = 'document_parsing_exception';
const illegalArgument = 'illegal_argument_exception';
const notTaken = 'only create and index are taken: logs never change';

/** An action and the beginning of its item in the answer. */
interface BulkAction {
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
function parseAction(text: string, line: number, pathIndex: string | undefined): BulkAction {
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
function rejectedItem({ item }: BulkAction, type: string, reason: string): string {
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
