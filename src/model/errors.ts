/**
 * The error type of a failed request, and the table of its codes on every wire. An invalid record
 * is data (`Rejection`); a bug is a failed assertion.
 */
import type { RateLimit } from './request.ts';

export type ErrorCode = keyof typeof errorTable;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ErrorKind {
  readonly httpStatus: number;
  /** Numeric gRPC status (https://grpc.io/docs/guides/status-codes). */
  readonly grpcCode: number;
  /** Whether the sender may retry the same request. */
  readonly retryable: boolean;
  readonly title: string;
  readonly logLevel: LogLevel;
}

export const errorTable = {
  malformed: kind(400, 3, 'malformed request', 'debug'),
  unauthenticated: kind(401, 16, 'not authenticated', 'debug'),
  forbidden: kind(403, 7, 'not permitted', 'debug'),
  not_found: kind(404, 5, 'not found', 'debug'),
  method_not_allowed: kind(405, 12, 'method not allowed', 'debug'),
  conflict: kind(409, 6, 'conflict', 'debug'),
  precondition_failed: kind(412, 9, 'precondition failed', 'debug'),
  too_large: kind(413, 8, 'too large', 'debug'),
  unsupported_media: kind(415, 3, 'unsupported content type or encoding', 'debug'),
  execution: kind(422, 9, 'cannot be executed', 'debug'),
  quota_exceeded: kind(429, 8, 'quota exceeded', 'info', true),
  timeout: kind(408, 4, 'request took too long', 'debug'),
  unavailable: kind(503, 14, 'temporarily unavailable', 'warn', true),
  query_timeout: kind(503, 4, 'query took too long', 'info'),
  internal: kind(500, 13, 'internal error', 'error'),
} as const satisfies Record<string, ErrorKind>;

/** Codes that no sender receives. */
const readErrorCodes = [
  'precondition_failed',
  'execution',
  'query_timeout',
] as const satisfies ErrorCode[];

export type IngestErrorCode = Exclude<ErrorCode, (typeof readErrorCodes)[number]>;

export const ingestErrorCodes = (Object.keys(errorTable) as ErrorCode[]).filter(
  (code): code is IngestErrorCode => !(readErrorCodes as readonly ErrorCode[]).includes(code),
);

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Whole seconds, sent as `Retry-After`; 1 to 5. */
  readonly retryAfterSeconds?: number;
  /** The invalid parameter or field, for problem+json. */
  readonly parameter?: string;
  /** State of the quota that refused the request. */
  readonly rateLimit?: RateLimit;
}

/**
 * A failed request. `message` is shown to the sender: lower case, "cannot …", with the invalid
 * value and the limit or option to change; never SQL, a path, a stack or another account's name
 * (those belong in `cause`).
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly parameter: string | undefined;
  readonly rateLimit: RateLimit | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.parameter = options.parameter;
    this.rateLimit = options.rateLimit;
  }

  get kind(): ErrorKind {
    return errorTable[this.code];
  }
}

/** For a request that is stored where it is sent again. */
export function sendAgain(cause?: Error): AppError {
  return new AppError('unavailable', 'cannot accept the request now: send it again', {
    cause,
    retryAfterSeconds: 1,
  });
}

function kind(
  httpStatus: number,
  grpcCode: number,
  title: string,
  logLevel: LogLevel,
  retryable = false,
): ErrorKind {
  return { httpStatus, grpcCode, retryable, title, logLevel };
}
