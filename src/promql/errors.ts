/** Failures of a query, in the words of Prometheus, which clients show and look for. */

/** `bad_data`: the query is wrong; `execution`: its evaluation is impossible. */
export type QueryFailure = 'bad_data' | 'execution' | 'timeout' | 'canceled';

export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly failure: QueryFailure;

  constructor(failure: QueryFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

export function parseError(text: string, at: number, reason: string): QueryError {
  return new QueryError('bad_data', `${lineAndColumn(text, at)}: parse error: ${reason}`);
}

export function executionError(reason: string): QueryError {
  return new QueryError('execution', reason);
}

/** Both from 1. */
export function lineAndColumn(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `${line}:${at - before.lastIndexOf('\n')}`;
}
