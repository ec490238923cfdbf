/**
 * What an error of PostgreSQL, or of the way to it, means to the directory. Pure; the codes are
 * those of https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
import { DatabaseError } from 'pg';

/**
 * `lost`: the connection is of no use any more, and the server may be away. `busy`: the server
 * answers, but cannot do this now. `repeat`: undone since another transaction was in the way.
 * `unstorable`: a text that PostgreSQL cannot hold. Anything else is a mistake of the statement.
 */
export type Fault = 'lost' | 'busy' | 'repeat' | 'unstorable' | 'mistake';

const faults: ReadonlyMap<string, Fault> = new Map([
  ['3D000', 'lost'], // no such database
  ['25006', 'lost'], // read-only: what answers is no primary (any more)
  ['25P03', 'lost'], // idle for too long within a transaction
  ['57P01', 'lost'], // the server is being stopped
  ['57P02', 'lost'], // it has crashed
  ['57P03', 'lost'], // it is starting
  ['57P05', 'lost'], // idle for too long
  ['55P03', 'busy'], // waited too long for a lock
  ['57014', 'busy'], // took too long
  ['XX001', 'busy'], // corrupt table
  ['XX002', 'busy'], // corrupt index
  ['40001', 'repeat'], // not serializable
  ['40P01', 'repeat'], // deadlock
  ['23503', 'repeat'], // what was looked up a moment ago has been deleted since
  ['22021', 'unstorable'], // NUL within a text
]);

/** By the first two characters of the code. */
const faultsOfClass: ReadonlyMap<string, Fault> = new Map([
  ['08', 'lost'], // connection
  ['28', 'lost'], // user and password
  ['53', 'busy'], // out of disk, memory or connections
  ['58', 'busy'], // input and output
]);

/** Of a server that is starting, stopping, full, or about to be the primary. */
const passingCodes: ReadonlySet<string> = new Set([
  '25006',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '55P03',
  '57014',
]);

/** Of a network in which the server, or its name, is not there yet. */
const networkCode = /^(?:E(?:CONN|HOST|NET)[A-Z]+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_[A-Z]+)$/;

/** Whether the server may answer later without anybody changing a setting. */
export function mayPass(error: unknown): boolean {
  const reason = bottomOf(error);
  if (!(reason instanceof Error)) return false;
  const code = 'code' in reason && typeof reason.code === 'string' ? reason.code : undefined;
  if (reason instanceof DatabaseError) return passingCodes.has(code ?? '');
  // The client's own errors have words only.
  return code === undefined ? /timeout|terminated/i.test(reason.message) : networkCode.test(code);
}

/** What all others were thrown for. */
export function bottomOf(error: unknown): unknown {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  return reason;
}

/** @param error that the client gave for connecting, or for a statement. */
export function faultOf(error: unknown): Fault {
  // The client's own words: no connection, a broken one, no answer in time.
  if (!(error instanceof DatabaseError)) return 'lost';
  const code = error.code ?? '';
  return faults.get(code) ?? faultsOfClass.get(code.slice(0, 2)) ?? 'mistake';
}
