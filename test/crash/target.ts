/** What a sender of the crash test sends, and where. */
import type { HttpClient } from '../harness/http.ts';
import type { Quickstart } from '../harness/quickstart.ts';

export interface Target {
  readonly http: HttpClient;
  readonly ca: string;
  readonly quickstart: Quickstart;
}

export interface Request {
  readonly request: number;
  /** Names of its events. */
  readonly names: readonly string[];
  /** Idempotency-Key. */
  readonly key: string | undefined;
}

/**
 * `taken` = acknowledged; `unavailable` = not stored; `unknown` = the protocol does not say.
 * @throws Error of the connection, or for an unexpected response
 */
export type Send = (
  target: Target,
  request: Request,
) => Promise<'taken' | 'unavailable' | 'unknown'>;

/** The connection ended without a response. */
export function lost(): Error {
  return Object.assign(new Error('the call got no answer'), { code: 'ECONNRESET' });
}
