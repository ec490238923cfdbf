/**
 * What a failure of ClickHouse means for Weir. Nothing of its text goes to a sender: it may hold
 * SQL, paths and data. Codes:
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp. Pure.
 */
import { ClickHouseError } from '@clickhouse/client';
import { AppError } from '../model/errors.ts';
import { StoreInsertError } from './port.ts';
import type { Placement } from './sql/tables.ts';

/**
 * The rows themselves cannot be read, or not be kept: parse errors, sizes out of bounds, values
 * that do not convert, a constraint that somebody put on a table.
 */
const dataCodes = new Set([
  '6',
  '26',
  '27',
  '32',
  '33',
  '38',
  '41',
  '69',
  '70',
  '72',
  '117',
  '128',
  '131',
  '321',
  '469',
]);

/** The server itself does not know what became of the insert. */
const unknownCodes = new Set(['209', '210', '279', '319', '425']);

/** The number of its holder was past its time. */
const supersededCode = '395';

/** Said before anything of a statement is done. */
const unbegunCodes = new Set(['60', '81', '164', '192', '193', '194', '202', '497', '516']);

/** Time, memory, rows and bytes of a statement. */
const limitCodes = new Set(['158', '159', '160', '191', '241', '307', '396']);

/** Of those, what fewer rows would not take. */
const sizeCodes = new Set(['241', '307', '396']);

/** Too many at once, or going down. */
const busyCodes = new Set(['202', '203', '236', '394', '439', '745']);

/**
 * What the system was asked for when no connection was made, so that no statement can be running.
 * The same codes come from connections that broke.
 */
const connectCalls = new Set(['connect', 'getaddrinfo']);

/** @param placement where nodes of a cluster may go on with what has failed on one of them */
export function toInsertError(
  error: unknown,
  placement: Pick<Placement, 'cluster'> = { cluster: undefined },
): StoreInsertError {
  if (error instanceof StoreInsertError) return error;
  const options = { cause: error };
  if (error instanceof ClickHouseError) {
    const refusal = `the store answered ${error.code} ${error.type ?? ''}`.trimEnd();
    if (dataCodes.has(error.code)) {
      return new StoreInsertError('data', `cannot store these rows: ${refusal}`, options);
    }
    return new StoreInsertError(failureOf(error, placement), `cannot insert: ${refusal}`, options);
  }
  if (isNotSent(error)) {
    return new StoreInsertError('unavailable', 'cannot reach the store', options);
  }
  return new StoreInsertError('unknown', 'cannot tell whether the insert arrived', options);
}

function failureOf({ code }: ClickHouseError, { cluster }: Pick<Placement, 'cluster'>) {
  if (code === supersededCode) return 'superseded';
  if (cluster !== undefined) return unbegunCodes.has(code) ? 'unavailable' : 'unknown';
  return unknownCodes.has(code) ? 'unknown' : 'unavailable';
}

/** Whether nothing of the statement can have reached the store. */
function isNotSent(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'unavailable';
  return isNotConnected(error);
}

/** Whether no connection was made: a host refuses, swallows what is sent to it, or is unknown. */
export function isNotConnected(error: unknown): boolean {
  return connectFailures(error).length > 0;
}

/** One for each address that was tried; none where one of them took the connection. */
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
  return new AppError('internal', 'cannot read the store', { cause: error });
}

/**
 * What a read ran into: a smaller one may fit. `size` of what it gave or held in memory; `effort`
 * of looking for it; undefined = no limit of its own.
 */
export function exceededLimit(error: unknown): 'size' | 'effort' | undefined {
  if (!(error instanceof ClickHouseError) || !limitCodes.has(error.code)) return undefined;
  return sizeCodes.has(error.code) ? 'size' : 'effort';
}

/** A read that would take more time, memory or rows than one read may have. */
export function overLimit(cause: unknown): AppError {
  const message =
    'cannot answer within the limits of one query: narrow the time range or add a filter';
  return new AppError('unavailable', message, { cause, retryAfterSeconds: 5 });
}

/** Functions of patterns fail in two ways; the second of them is not theirs alone. */
function isBadPattern({ code, message }: ClickHouseError): boolean {
  return code === '427' || (code === '36' && message.includes('not a valid re2 pattern'));
}

/** @param option of `metrics` that an operator may raise, if there is one. */
export function tooMuch(limit: number, what: string, option?: string): AppError {
  const advice = option === undefined ? '' : `, or raise metrics.${option}`;
  const message =
    `cannot answer with more than ${limit} ${what}: ` +
    `narrow the matchers or the time range${advice}`;
  return new AppError('unavailable', message, { retryAfterSeconds: 5 });
}
