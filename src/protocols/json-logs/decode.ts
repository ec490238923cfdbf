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
import { createSlicedDecoder, sliceBytes, type Slices } from '../../codec/sliced-decoder.ts';
import { EventBatch, EventWorkspace } from './event-batch.ts';
import { type OpenReader, openPlainEvents } from './event-reader.ts';

/** A reason to reject what stands in the place of an event. */
export const notObject = 'the event is not an object';

export type JsonLogsDecoder = (body: Buffer, limits: DecodeLimits) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that is not JSON, is nested too deeply or has
 * no acceptable event, and `too_large` for more than `maxEvents` events.
 */
export function createJsonLogsDecoder(
  open: OpenReader = openPlainEvents,
  readText: ReadBodyText = requireText,
): JsonLogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, limits) =>
    decodeInSlices(function* (workspace) {
      const text = readText(body);
      const { bytes } = text;
      const batch = new EventBatch(bytes, workspace, limits);
      batch.warnOf(text);
      const read = open(bytes, workspace.slots, limits.maxDepth);
      yield* readEvents(bytes, (at) => {
        const isObject = bytes[at] === openBrace;
        const end = isObject ? read(at) : skipValue(bytes, at, limits.maxDepth);
        if (isObject) batch.take(end - at);
        else batch.reject(notObject);
        return end;
      });
      return batch.finish();
    });
}

/** @param read reads the event at a position. @returns the position after it */
function* readEvents(body: Buffer, read: (at: number) => number): Slices<void> {
  let at = skipSpace(body, 0);
  if (body[at] === openBrace) return expectEnd(body, read(at));
  if (body[at] !== openBracket) failAt(body, at, 'an object or an array of objects');
  at = skipSpace(body, at + 1);
  if (body[at] === closeBracket) return expectEnd(body, at + 1);
  for (let sliceEnd = at + sliceBytes; ; ) {
    at = skipSpace(body, read(at));
    if (body[at] === closeBracket) return expectEnd(body, at + 1);
    if (body[at] !== comma) failAt(body, at, "',' or ']'");
    at = skipSpace(body, at + 1);
    if (at < sliceEnd) continue;
    yield;
    sliceEnd = at + sliceBytes;
  }
}

function expectEnd(body: Buffer, at: number): void {
  const end = skipSpace(body, at);
  if (body[end] === openBrace) {
    throw new AppError(
      'malformed',
      `cannot read a second event at byte ${end}: send events as an array, or one after ` +
        'another to …/lines',
    );
  }
  if (end < body.length) failAt(body, end, 'the end of the body');
}
