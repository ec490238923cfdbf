/** Reads a request body with a size cap and a minimum rate, or discards it. */
import { AppError } from '../model/errors.ts';
import type { MemoryLease, RequestBody } from './port.ts';

export interface BodyPace {
  /** Timeout for the whole body. */
  readonly timeoutMs: number;
  /** After this time the average rate must reach `minBytesPerSecond`. */
  readonly graceMs: number;
  readonly minBytesPerSecond: number;
}

const nothing = Buffer.alloc(0);
/** Smaller bodies arrive in one or two pieces and need no buffer. */
const largeBodyBytes = 32 * 1024;

/**
 * @returns the body, valid until the memory is released
 * @throws AppError `too_large` | `timeout` | `malformed` (incomplete) | `unavailable` (no memory)
 */
export function readBody(
  body: RequestBody,
  maxBytes: number,
  memory: MemoryLease,
  pace: BodyPace,
): Buffer | Promise<Buffer> {
  if (!body.expected) return nothing;
  const arrived = body.takeArrived?.() ?? null;
  if (arrived !== null) {
    if (arrived.length > maxBytes) throw tooLarge(maxBytes);
    memory.growTo(arrived.length);
    return arrived;
  }
  return collectBody(body, maxBytes, memory, pace);
}

function collectBody(
  body: RequestBody,
  maxBytes: number,
  memory: MemoryLease,
  pace: BodyPace,
): Promise<Buffer> {
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
    // Allocates once half has arrived: a declared length without data allocates nothing.
    whole = memory.buffer(Math.max(declaredBytes, size));
    pieces.moveTo(whole);
  };
  const finish = () => {
    if (!body.arrivedWhole()) return breakOff();
    stop();
    resolve(whole === undefined ? pieces.whole() : whole.subarray(0, size));
  };
  const breakOff = (error?: Error) => {
    const early = 'cannot read the whole body: it ended early';
    fail(error instanceof AppError ? error : new AppError('malformed', early));
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

/** For a body whose declared or actual size exceeds the cap. */
export function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept a body of more than ${maxBytes} bytes: split the batch and send the parts`,
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
  /** Time for the first bytes to arrive. Without them the body is not flowing. */
  readonly firstByteMs: number;
  /** A body that pauses this long is waiting for its answer. */
  readonly gapMs: number;
  readonly totalMs: number;
}

/** Many clients send their body before they read the answer; closing early hides it. */
export const discardPatience: DiscardPatience = { firstByteMs: 50, gapMs: 1000, totalMs: 5000 };

/** Resolves once the body has ended or exceeds the patience. The stream stays in flowing mode. */
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

/** A TLS read is at most 16 KiB, so that a larger piece wastes little. */
const largePieceBytes = 8 * 1024;
const smallestSlabBytes = 1024;
const largestSlabBytes = 64 * 1024;

/**
 * Collects the pieces of a body. Memory is proportional to the bytes: each piece of a transport may
 * reference the whole read it came from, so that one-byte frames would take a hundred times more.
 */
export function createBodyPieces() {
  const buffers: Buffer[] = [];
  let slab: Buffer | undefined;
  let filled = 0;
  let size = 0;
  let held = 0;

  function keep(buffer: Buffer): void {
    buffers.push(buffer);
    held += buffer.length;
  }

  function copy(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (slab === undefined || filled === slab.length) {
        const bytes = Math.min(largestSlabBytes, Math.max(smallestSlabBytes, size));
        slab = Buffer.allocUnsafeSlow(bytes);
        filled = 0;
        keep(slab);
      }
      const count = piece.copy(slab, filled, at);
      filled += count;
      at += count;
    }
  }

  return {
    /** Keeps or copies the piece, which must not change afterwards. */
    add(piece: Buffer): void {
      // Most bodies are one piece. After the first slab all pieces are copied: alternating small
      // and large pieces would leave slabs nearly empty.
      const isKept = slab === undefined && (size === 0 || piece.length >= largePieceBytes);
      if (isKept) keep(piece);
      else copy(piece);
      size += piece.length;
    },
    /** Size of the buffers: at most twice the bytes plus `smallestSlabBytes`. */
    heldBytes: () => held,
    /** Moves all bytes to the start of `target`. */
    moveTo(target: Buffer): void {
      let at = 0;
      for (const buffer of buffers.splice(0)) at += buffer.copy(target, at, 0, size - at);
      slab = undefined;
      size = 0;
      held = 0;
    },
    /** All bytes in one buffer. */
    whole(): Buffer {
      const [only] = buffers;
      if (buffers.length === 1 && only !== undefined) return only.subarray(0, size);
      return Buffer.concat(buffers, size);
    },
  };
}
