/**
 * Errors in the form that ClickHouse clients parse: code, text, HTTP status, and the block that
 * ends a broken stream. Sources: ErrorCodes.cpp of ClickHouse and
 * https://clickhouse.com/docs/interfaces/http.
 */
import { messageOf } from '../std/error-text.ts';

/** The codes that the engine raises itself; chDB raises all others. */
const exceptionNames = {
  48: 'NOT_IMPLEMENTED',
  62: 'SYNTAX_ERROR',
  159: 'TIMEOUT_EXCEEDED',
  202: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  236: 'ABORTED',
  243: 'NOT_ENOUGH_SPACE',
  307: 'TOO_MANY_BYTES',
  394: 'QUERY_WAS_CANCELLED',
  456: 'UNKNOWN_QUERY_PARAMETER',
  457: 'BAD_QUERY_PARAMETER',
  516: 'AUTHENTICATION_FAILED',
  1002: 'UNKNOWN_EXCEPTION',
} as const;

export type ExceptionCode = keyof typeof exceptionNames;

/** A query refused before chDB runs it. */
export class EngineException extends Error {
  override readonly name = 'EngineException';
  readonly code: ExceptionCode;

  constructor(code: ExceptionCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface WireException {
  readonly code: number;
  readonly httpStatus: number;
  /** `Code: NNN. DB::Exception: … (NAME)` */
  readonly text: string;
}

/** Errors that are neither the engine's nor chDB's become 1002. */
export function toWireException(error: unknown): WireException {
  if (error instanceof EngineException) return wire(error.code, textOf(error.code, error.message));
  const message = messageOf(error);
  const code = /^Code: (\d+)\b/.exec(message)?.[1];
  return code === undefined
    ? wire(1002, textOf(1002, message))
    : wire(Number(code), message.trimEnd());
}

/**
 * The end of a stream that failed after its status was sent. Clients parse it when the response
 * had the tag in `X-ClickHouse-Exception-Tag`. The length of the message includes its line feed.
 */
export function exceptionBlock(exception: WireException, tag: string): string {
  const bytes = Buffer.byteLength(exception.text) + 1;
  const mark = '__exception__';
  return `\r\n${mark}\r\n${tag}\r\n${exception.text}\n${bytes} ${tag}\r\n${mark}\r\n`;
}

/** As in HTTPHandler.cpp of ClickHouse; all others are 500. */
const httpStatuses: Readonly<Record<number, number>> = {
  46: 404,
  47: 404,
  60: 404,
  62: 400,
  81: 404,
  115: 404,
  159: 408,
  164: 403,
  202: 503,
  307: 413,
  456: 400,
  457: 400,
  497: 403,
  516: 403,
};

function wire(code: number, text: string): WireException {
  return { code, httpStatus: httpStatuses[code] ?? 500, text };
}

function textOf(code: ExceptionCode, message: string): string {
  return `Code: ${code}. DB::Exception: ${message}. (${exceptionNames[code]})`;
}
