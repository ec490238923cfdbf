/**
 * Decodes plain JSON logs (SPEC §2 "Log event") to `logs/1` rows. Events are transcoded from bytes
 * to bytes without building objects, so that work and memory are bounded by the size of the body.
 */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import { type ReadBodyText, requireText } from '../../codec/body-text.ts';
import {
  closeBracket,
  comma,
  failAt,
  openBrace,
  openBracket,
  skipSpace,
  skipValue,
} from '../../codec/json-scanner.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createSlicedDecoder, type Decoding, sliceBytes } from '../../codec/sliced-decoder.ts';
import { EventBatch, EventWorkspace } from './event-batch.ts';
import { type EventSource, type OpenSource, openPlainEvents } from './event-source.ts';

export type JsonLogsDecoder = (body: Buffer, limits: DecodeLimits) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that is not JSON, is nested too deeply or has
 * no acceptable event, and `too_large` for more than `maxEvents` events.
 */
export function createJsonLogsDecoder(
  open: OpenSource = openPlainEvents,
  readText: ReadBodyText = requireText,
): JsonLogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, limits) =>
    decodeInSlices((workspace) => {
      const text = readText(body);
      const batch = new EventBatch(text.bytes, workspace, limits);
      batch.warnOf(text);
      const source = open(text.bytes, workspace.slots, limits.maxDepth);
      return new JsonLogsDecoding(text.bytes, source, batch, limits);
    });
}

class JsonLogsDecoding implements Decoding {
  readonly #body: Buffer;
  readonly #source: EventSource;
  readonly #batch: EventBatch;
  readonly #maxDepth: number;
  #at = 0;
  #started = false;

  constructor(body: Buffer, source: EventSource, batch: EventBatch, { maxDepth }: DecodeLimits) {
    this.#body = body;
    this.#source = source;
    this.#batch = batch;
    this.#maxDepth = maxDepth;
  }

  run(): boolean {
    if (!this.#started) {
      this.#started = true;
      if (this.#start()) return true;
    }
    const sliceEnd = this.#at + sliceBytes;
    while (this.#at < sliceEnd) {
      this.#readElement();
      const at = skipSpace(this.#body, this.#at);
      if (this.#body[at] === closeBracket) {
        this.#expectEnd(at + 1);
        return true;
      }
      if (this.#body[at] !== comma) failAt(this.#body, at, "',' or ']'");
      this.#at = skipSpace(this.#body, at + 1);
    }
    return false;
  }

  finish(): Batch {
    return this.#batch.finish();
  }

  /** @returns true if the body is done: a single object, or an empty array. */
  #start(): boolean {
    const body = this.#body;
    const at = skipSpace(body, 0);
    if (body[at] === openBrace) {
      this.#at = at;
      this.#readElement();
      this.#expectEnd(this.#at);
      return true;
    }
    if (body[at] !== openBracket) failAt(body, at, 'an object or an array of objects');
    this.#at = skipSpace(body, at + 1);
    if (body[this.#at] !== closeBracket) return false;
    this.#expectEnd(this.#at + 1);
    return true;
  }

  #readElement(): void {
    const start = this.#at;
    if (this.#body[start] === openBrace) {
      this.#at = this.#source.read(start);
      this.#batch.take(this.#source.findFault(), this.#at - start);
      return;
    }
    this.#at = skipValue(this.#body, start, this.#maxDepth);
    this.#batch.reject('the event is not an object');
  }

  #expectEnd(at: number): void {
    const end = skipSpace(this.#body, at);
    if (this.#body[end] === openBrace) {
      throw new AppError(
        'malformed',
        `cannot read a second event at byte ${end}: send events as an array, or one after ` +
          'another to …/lines',
      );
    }
    if (end < this.#body.length) failAt(this.#body, end, 'the end of the body');
  }
}
