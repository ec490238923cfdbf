/** Errors to the wire: a failure becomes an AppError, and an AppError a problem (RFC 9457). */
import { AppError } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';

export const problemType = 'application/problem+json';

/** What is not an AppError is a bug: only its request id is sent. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
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

/** The headers of a failure, whatever the format of its body. */
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
 * 1 to 5 seconds: senders drop their data when asked to wait longer. A quota knows when it has room
 * again; all other retries get jitter, so that senders do not return at once.
 */
function retryAfterSeconds(error: AppError): number {
  const most = Math.min(5, Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1)));
  return error.code === 'quota_exceeded' ? most : 1 + Math.floor(Math.random() * most);
}
