/**
 * Maps errors of ClickHouse to those of Weir. Their text never reaches a client: it may hold SQL,
 * paths and data. Pure.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
import { ClickHouseError } from '@clickhouse/client';
import { AppError } from '../model/errors.ts';
import { StoreInsertError } from './port.ts';
import type { Placement } from './sql/tables.ts';

/** The rows are invalid: parse errors, sizes out of bounds, failed conversions or constraints. */
const dataCodes = codesOf('6 26 27 32 33 38 41 69 70 72 117 128 131 321 469');

/**
 * The server does not know the outcome of the insert, or still runs a copy of it that a proxy has
 * sent (216, QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING).
 */
const unknownCodes = codesOf('209 210 216 279 319 425');

/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, by the fence condition of an insert. */
const supersededCode = '395';

/** Limits of time, memory, rows and bytes. */
const limitCodes = codesOf('158 159 160 191 241 307 396');

/** Limits that fewer rows would not exceed. */
const sizeCodes = codesOf('241 307 396');

/** Too many queries, or a shutdown. */
const busyCodes = codesOf('202 203 236 394 439 745');

function codesOf(codes: string): ReadonlySet<string> {
  return new Set(codes.split(' '));
}

/** A node of a cluster, or Keeper, does not answer. */
const awayCodes = codesOf('198 209 210 225 279 297 369 519 999');

/** System calls that fail before a connection exists; error codes do not distinguish that. */
const connectCalls = new Set(['connect', 'getaddrinfo']);

/** @param placement on a cluster, other nodes may continue an insert that failed on one */
export function toInsertError(
  error: unknown,
  placement: Pick<Placement, 'cluster'> = { cluster: undefined },
): StoreInsertError {
  if (error instanceof StoreInsertError) return error;
  const options = { cause: error };
  if (error instanceof ClickHouseError) {
    const refusal = `the store returned ${error.code} ${error.type ?? ''}`.trimEnd();
    if (dataCodes.has(error.code) && !isCut(error)) {
      return new StoreInsertError('data', `cannot store these rows: ${refusal}`, options);
    }
    // On a cluster other nodes may have stored some of them.
    if (placement.cluster === undefined && exceedsOwnMemory(error)) {
      const advice = 'raise engine.memoryBytes, or max_memory_usage of the server';
      const message = `cannot store these rows at once: ${refusal}; ${advice}`;
      return new StoreInsertError('data', message, options);
    }
    return new StoreInsertError(failureOf(error, placement), `cannot insert: ${refusal}`, options);
  }
  if (isNotSent(error)) {
    return new StoreInsertError('unavailable', 'cannot reach the store', options);
  }
  return new StoreInsertError('unknown', 'cannot tell whether the insert arrived', options);
}

/**
 * Whether the connection to another node of a cluster broke, which has the code of rows that end
 * too early, ATTEMPT_TO_READ_AFTER_EOF.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Client/Connection.cpp
 */
function isCut({ message }: ClickHouseError): boolean {
  return message.includes('while receiving packet from');
}

function failureOf({ code }: ClickHouseError, { cluster }: Pick<Placement, 'cluster'>) {
  if (code === supersededCode) return 'superseded';
  // The node that refused it may be one of several that it was sent to.
  if (cluster !== undefined) return 'unknown';
  return unknownCodes.has(code) ? 'unknown' : 'unavailable';
}

/** Whether the statement cannot have reached the store. */
function isNotSent(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'unavailable';
  return isNotConnected(error);
}

/** Whether no connection was made: refused, timed out, or the host is unknown. */
export function isNotConnected(error: unknown): boolean {
  return connectFailures(error).length > 0;
}

/** One for each address that was tried; none when one of them accepted. */
function connectFailures(error: unknown): readonly NodeJS.ErrnoException[] {
  const tried: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const failures = tried.filter(isConnectFailure);
  return failures.length === tried.length ? failures : [];
}

function isConnectFailure(error: unknown): error is NodeJS.ErrnoException {
  const { syscall = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return connectCalls.has(syscall);
}

export function toReadError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (!(error instanceof ClickHouseError)) {
    return new AppError('unavailable', 'cannot reach the store; try again', {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
  if (limitCodes.has(error.code)) return overLimit(error);
  if (isBadPattern(error)) {
    return new AppError('malformed', 'cannot compile a regular expression: it must be RE2', {
      cause: error,
    });
  }
  if (busyCodes.has(error.code)) {
    return new AppError('unavailable', 'cannot read now: too many queries at once; try again', {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
  if (awayCodes.has(error.code) || isCut(error)) {
    const message = 'cannot read now: a node of the store does not answer; try again';
    return new AppError('unavailable', message, { cause: error, retryAfterSeconds: 2 });
  }
  return new AppError('internal', 'cannot read the store', { cause: error });
}

/**
 * The kind of limit that a read exceeded: `size` of its result or memory, `effort` of the search;
 * undefined = none. A smaller read may succeed.
 */
export function exceededLimit(error: unknown): 'size' | 'effort' | undefined {
  if (!(error instanceof ClickHouseError) || !limitCodes.has(error.code)) return undefined;
  return sizeCodes.has(error.code) ? 'size' : 'effort';
}

/** Whether the statement took more memory than one may, whatever others take: it fails again. */
function exceedsOwnMemory({ code, message }: ClickHouseError): boolean {
  return code === '241' && /query memory limit|memory limit \(for query\)/i.test(message);
}

/** Whether memory was short because of other statements: the same one may succeed later. */
export function lacksTotalMemory(error: unknown): boolean {
  const isMemory = error instanceof ClickHouseError && error.code === '241';
  return isMemory && error.message.includes('(total) memory limit');
}

export function overLimit(cause: unknown): AppError {
  const message =
    'cannot answer within the limits of one query: narrow the time range or add a filter';
  return new AppError('unavailable', message, { cause, retryAfterSeconds: 5 });
}

/** Pattern functions have two error codes; other functions share the second. */
function isBadPattern({ code, message }: ClickHouseError): boolean {
  return code === '427' || (code === '36' && message.includes('not a valid re2 pattern'));
}

/** @param option in `metrics` that raises the limit */
export function tooMany(limit: number, what: string, option?: string): AppError {
  const advice = option === undefined ? '' : `, or raise metrics.${option}`;
  const message =
    `cannot answer with more than ${limit} ${what}: ` +
    `narrow the matchers or the time range${advice}`;
  return new AppError('execution', message);
}
