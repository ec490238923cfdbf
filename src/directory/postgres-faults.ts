/**
 * Classifies errors of PostgreSQL and of the connection to it. Codes:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
import { DatabaseError } from 'pg';

/**
 * `lost`: the connection is unusable. `busy`: the server cannot execute the statement now.
 * `repeat`: rolled back after a conflict with another transaction. `unstorable`: text that
 * PostgreSQL cannot store. `mistake`: an error of the statement.
 */
export type Fault = 'lost' | 'busy' | 'repeat' | 'unstorable' | 'mistake';

const faults: ReadonlyMap<string, Fault> = new Map([
  ['3D000', 'lost'], // no such database
  ['25006', 'lost'], // read-only: the server is a standby
  ['25P03', 'lost'], // idle-in-transaction timeout
  ['57P01', 'lost'], // shutdown of the server
  ['57P02', 'lost'], // crash of the server
  ['57P03', 'lost'], // startup of the server
  ['57P05', 'lost'], // idle-session timeout
  ['55P03', 'busy'], // lock timeout
  ['57014', 'busy'], // statement timeout
  ['XX001', 'busy'], // corrupt table
  ['XX002', 'busy'], // corrupt index
  ['40001', 'repeat'], // serialization failure
  ['40P01', 'repeat'], // deadlock
  ['23503', 'repeat'], // foreign key: the row was deleted concurrently
  ['22021', 'unstorable'], // NUL within a text
]);

/** By the first two characters of the code. */
const faultsOfClass: ReadonlyMap<string, Fault> = new Map([
  ['08', 'lost'], // connection
  ['28', 'lost'], // authentication
  ['53', 'busy'], // out of disk, memory or connections
  ['58', 'busy'], // input and output
]);

/** A server that is starting, stopping, full or not yet promoted. */
const passingCodes: ReadonlySet<string> = new Set([
  '25006',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '55P03',
  '57014',
]);

/** The server's host name or network is not reachable yet. */
const networkCode = /^(?:E(?:CONN|HOST|NET)[A-Z]+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_[A-Z]+)$/;

/** Whether a retry may succeed without a change of settings. */
export function isTransient(error: unknown): boolean {
  const reason = rootCauseOf(error);
  if (!(reason instanceof Error)) return false;
  const code = 'code' in reason && typeof reason.code === 'string' ? reason.code : undefined;
  if (reason instanceof DatabaseError) return passingCodes.has(code ?? '');
  // Errors of the client library have no code.
  return code === undefined ? /timeout|terminated/i.test(reason.message) : networkCode.test(code);
}

function rootCauseOf(error: unknown): unknown {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  return reason;
}

/** @param error of a connection attempt or a statement. */
export function faultOf(error: unknown): Fault {
  // Errors of the client library: no connection, a broken one, or a timeout.
  if (!(error instanceof DatabaseError)) return 'lost';
  const code = error.code ?? '';
  return faults.get(code) ?? faultsOfClass.get(code.slice(0, 2)) ?? 'mistake';
}

/** The root cause as a message for operators, without a password. */
export function reasonOf(error: unknown): string {
  const reason = rootCauseOf(error);
  if (!(reason instanceof Error)) return String(reason);
  if (/client password must be a string/.test(reason.message)) {
    return 'it asks for a password; set directory.password';
  }
  if ('code' in reason && reason.code === '28P01') {
    return `${reason.message}; check directory.url and directory.password`;
  }
  // An AggregateError over several addresses has a code and no message.
  return reason.message || ('code' in reason ? String(reason.code) : reason.name);
}
