/**
 * Reads a request body under a hard cap and a minimum pace, or lets it run dry unread. It knows
 * neither what the bytes mean nor who sent them.
 */
import { AppError } from '../model/errors.ts';
import { createBodyPieces } from './body-pieces.ts';
import type { MemoryLease, RequestBody } from './port.ts';

export interface BodyPace {
  /** The whole body must be here after this long. */
  readonly timeoutMs: number;
  /** From then on the average since its start must reach `minBytesPerSecond`. */
  readonly graceMs: number;
  readonly minBytesPerSecond: number;
}

const nothing = Buffer.alloc(0);
/** Bodies declared to be smaller come in one or two pieces and are put together as they are. */
const largeBodyBytes = 32 * 1024;

/**
 * @returns the body, to be read until the memory is released
 * @throws AppError `too_large` | `timeout` | `malformed` (it broke off) | `unavailable` (no memory
 * for it)
 */
export function readBody(
  body: RequestBody,
  maxBytes: number,
  memory: MemoryLease,
  pace: BodyPace,
): Promise<Buffer> {
  if (!body.expected) return Promise.resolve(nothing);
  const { stream } = body;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces = createBodyPieces();
  const declaredBytes = body.declaredBytes ?? 0;
  let whole: Buffer | undefined;
  const startedAt = performance.now();
  let size = 0;

  const stop = () => {
    clearInterval(watch);
    stream.off('data', take).off('end', finish).off('close', breakOff).off('error', breakOff);
  };
  const fail = (error: unknown) => {
    stop();
    stream.pause();
    reject(error);
  };
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return fail(tooLarge(maxBytes));
    if (whole === undefined) pieces.add(chunk);
    else chunk.copy(whole, size - chunk.length);
    try {
      memory.growTo(whole === undefined ? pieces.heldBytes() : size);
    } catch (error) {
      return fail(error);
    }
    if (whole !== undefined || declaredBytes < largeBodyBytes || size < declaredBytes / 2) return;
    // Half of it is here: no sender gets room by promises alone.
    whole = memory.buffer(Math.max(declaredBytes, size));
    pieces.moveTo(whole);
  };
  const finish = () => {
    if (!body.arrivedWhole()) return breakOff();
    stop();
    resolve(whole === undefined ? pieces.whole() : whole.subarray(0, size));
  };
  const breakOff = () => {
    fail(new AppError('malformed', 'cannot read the whole body: it broke off before its end'));
  };
  const watch = setInterval(
    () => {
      const problem = paceProblem(pace, performance.now() - startedAt, size);
      if (problem !== undefined) fail(new AppError('timeout', problem));
    },
    Math.min(1000, pace.graceMs, pace.timeoutMs),
  );

  if (stream.destroyed) {
    breakOff();
    return promise;
  }
  stream.on('end', finish).on('close', breakOff).on('error', breakOff).on('data', take);
  body.sendContinue?.();
  return promise;
}

/** The refusal of a body whose declared or actual size passes the cap. */
export function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'too_large',
    `cannot take a body of more than ${maxBytes} bytes: split the batch and send the parts`,
  );
}

function paceProblem(pace: BodyPace, elapsedMs: number, size: number): string | undefined {
  if (elapsedMs >= pace.timeoutMs) {
    return `cannot wait for the body any longer: it took more than ${pace.timeoutMs} ms`;
  }
  if (elapsedMs >= pace.graceMs && size < (pace.minBytesPerSecond * elapsedMs) / 1000) {
    const pacing = `send at least ${pace.minBytesPerSecond} bytes per second`;
    return `cannot wait for a body this slow: ${pacing}`;
  }
  return undefined;
}

export interface DiscardPatience {
  /**
   * Whether a body flows is decided after this long: time for bytes sent along with the head to
   * arrive.
   */
  readonly firstByteMs: number;
  /** A flowing body that pauses this long has stopped to wait for its answer. */
  readonly gapMs: number;
  readonly totalMs: number;
}

/**
 * Many clients read no answer before they have sent their body: closing on them hides it behind a
 * write error.
 */
export const discardPatience: DiscardPatience = { firstByteMs: 50, gapMs: 1000, totalMs: 5000 };

/**
 * Resolves once the body has ended, or need not be waited for; the stream flows on into nothing.
 */
export function discardBody(
  body: RequestBody,
  maxBytes: number,
  patience: DiscardPatience,
): Promise<void> {
  const { stream } = body;
  if (!body.expected || stream.destroyed || stream.readableEnded) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  let size = 0;
  const settle = () => {
    clearTimeout(quiet);
    clearTimeout(total);
    stream.off('data', take).off('end', settle).off('close', settle).off('error', settle);
    // A 'data' listener gone would leave it flowing all the same; this says so.
    stream.resume();
    resolve();
  };
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return settle();
    clearTimeout(quiet);
    quiet = setTimeout(settle, patience.gapMs);
  };
  let quiet = setTimeout(settle, patience.firstByteMs);
  const total = setTimeout(settle, patience.totalMs);
  stream.on('end', settle).on('close', settle).on('error', settle).on('data', take);
  return promise;
}
