/**
 * Errors to the wire: every failure becomes an AppError, an AppError becomes a problem (RFC 9457),
 * and nothing of a bug but its request id leaves the process.
 */
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';

export const problemType = 'application/problem+json';

/**
 * Failures of the framework and of Node's parser carry a status, and some of their words are fit to
 * be seen.
 */
const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed',
  404: 'not_found',
  408: 'timeout',
  413: 'too_large',
  414: 'too_large',
  415: 'unsupported_media',
  431: 'too_large',
};

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { statusCode, code } = (error ?? {}) as { statusCode?: unknown; code?: unknown };
  const known = typeof statusCode === 'number' ? codeByStatus[statusCode] : undefined;
  if (known !== undefined && typeof code === 'string' && code.startsWith('FST_')) {
    return new AppError(known, `cannot read the request: ${wordsOf(known)}`, { cause: error });
  }
  return new AppError('internal', 'cannot answer: an internal fault, logged with this requestId', {
    cause: error,
  });
}

export function toProblem(error: AppError, requestId: string): Problem {
  const { httpStatus, grpcCode, title } = error.kind;
  const { code, message, parameter } = error;
  return {
    status: httpStatus,
    grpcCode,
    code,
    title,
    detail: message,
    requestId,
    parameter,
    retryAfterSeconds: error.kind.retryable ? retryAfterSeconds(error) : undefined,
  };
}

/** The body of an `application/problem+json` answer. */
export function problemJson(problem: Problem): string {
  const { grpcCode: _, retryAfterSeconds: __, ...members } = problem;
  return JSON.stringify({ type: `urn:weir:problem:${problem.code}`, ...members });
}

/** What goes along with a failure, whatever its body looks like. */
export function problemHeaders(
  error: AppError,
  { retryAfterSeconds: retryAfter }: Problem,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="weir"';
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (error.rateLimit !== undefined) {
    headers['ratelimit-policy'] = error.rateLimit.policy;
    headers['ratelimit'] = error.rateLimit.state;
  }
  return headers;
}

/**
 * Whole seconds from 1 to 5: senders told to wait longer drop what they hold. A quota knows when it
 * will have room; of everything else nobody does, so senders are spread, lest they all come back at
 * once.
 */
function retryAfterSeconds(error: AppError): number {
  const most = Math.min(5, Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1)));
  return error.code === 'quota_exceeded' ? most : 1 + Math.floor(Math.random() * most);
}

function wordsOf(code: ErrorCode): string {
  switch (code) {
    case 'not_found':
      return 'there is no such route';
    case 'too_large':
      return 'it is larger than this route takes';
    case 'unsupported_media':
      return 'send it as application/json';
    default:
      return 'its URL or its body is not well formed';
  }
}
