/**
 * A read as plain data, declared beside its implementation. The server mounts it, authenticates its
 * callers, and describes it in the OpenAPI document.
 */
import type { z } from 'zod';
import type { Scope } from './account.ts';
import type { ErrorCode } from './errors.ts';
import type { Scan } from './plan.ts';
import type { ContentCoding, EncodedProblem, MediaTypeRule, Problem } from './protocol.ts';

export interface ReadRoute {
  /** Variable segments as `:name`. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly operationId: string;
  readonly summary: string;
  /** Further description for the OpenAPI document. */
  readonly description?: string;
  readonly scope: Scope;
  /**
   * A URL parameter that may carry the account instead of the header, for clients that cannot set
   * headers; absent = header only.
   */
  readonly accountParameter?: string;
  /** Variable segments of the path; absent = none. */
  readonly params?: z.ZodObject;
  /** Parameters in the URL, or in the body of a form. */
  readonly query: z.ZodObject;
  /** Absent = the body is ignored. */
  readonly body?: ReadBody;
  /** Undefined = never succeeds and is not described. */
  readonly response: ReadResponse | undefined;
  /** Responds with `scanHeaders` too; absent = without. */
  readonly reportsScan?: true;
  /** Absent = problem+json (RFC 9457). */
  readonly failure?: ReadFailure;
  /**
   * @returns a value sent as JSON, a Uint8Array sent unchanged, or a StreamedResponse
   * @throws AppError
   */
  readonly read: (request: ReadRequest) => Promise<unknown>;
}

/** A read without a token: its path has a ticket. */
export interface TicketRoute extends Pick<ReadRoute, 'operationId' | 'path' | 'summary'> {
  readonly params: z.ZodObject;
  /** Media types of the answer. */
  readonly mediaTypes: readonly string[];
  /** Scope that the token for which the ticket was issued must still have. */
  readonly scope: Scope;
  /** @throws AppError */
  readonly read: (request: TicketRequest) => Promise<StreamedResponse>;
}

export interface TicketRequest {
  readonly params: Readonly<Record<string, string>>;
  /** Aborted when the reader disconnects or the service closes. */
  readonly signal: AbortSignal;
  /** Checks that the token of an earlier request still opens its account. @throws AppError */
  readonly permit: (reader: Reader) => Promise<void>;
}

/** The caller in a form that can be stored or sent to another process. */
export interface Reader {
  readonly accountId: string;
  /** Lower-case hex SHA-256 of the token. */
  readonly tokenDigest: string;
}

/**
 * A response of unbounded length, sent chunk by chunk at the reader's pace. An error before the
 * first chunk becomes an error response; a later one breaks the connection, so that no partial
 * response looks complete.
 */
export class StreamedResponse {
  readonly mediaType: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** `return` is called when the reader disconnects. */
  readonly chunks: AsyncIterable<Uint8Array | string>;

  constructor(
    mediaType: string,
    chunks: AsyncIterable<Uint8Array | string>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.mediaType = mediaType;
    this.chunks = chunks;
    this.headers = headers;
  }
}

/** The caller of a read, and its lifetime. */
export interface ReadCaller {
  readonly accountId: string;
  /** Aborted when the reader disconnects. */
  readonly disconnected?: AbortSignal;
  /** Reads of the store add to it. */
  readonly scanned?: Scan;
}

/** What the store read to answer: decimal numbers. */
export const scanHeaders = {
  rows: 'X-Weir-Scanned-Rows',
  bytes: 'X-Weir-Scanned-Bytes',
} as const;

export interface ReadBody {
  readonly mediaTypes: readonly MediaTypeRule[];
  /** The fields of a `form` are parameters; a `message` is decoded by the route. */
  readonly kind: 'form' | 'message';
  readonly codings: readonly ContentCoding[];
  /** Largest body on the wire, and inflated. */
  readonly maxBytes: number;
}

export interface ReadResponse {
  readonly mediaType: string;
  /** Undefined = bytes without a JSON Schema, or one of several formats. */
  readonly schema: z.ZodType | undefined;
  /** Other media types, chosen by the request. */
  readonly otherMediaTypes?: readonly string[];
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Errors in another JSON format than problem+json. */
export interface ReadFailure {
  readonly schema: z.ZodType;
  /** Further codes that the routes may answer, beside those of every read. */
  readonly codes: readonly ErrorCode[];
  readonly encode: (problem: Problem) => EncodedProblem;
}

export interface ReadRequest extends Reader, ReadCaller {
  /** Parameters of the URL and of a form, decoded; the route decides which may repeat. */
  readonly search: Iterable<[name: string, value: string]>;
  /** Variable segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Inflated; empty without a body. Invalid once `read` has settled. */
  readonly body: Uint8Array;
  /** `Last-Event-ID` of a reconnecting event stream. */
  readonly lastEventId: string | undefined;
  /** Aborted when the reader disconnects or the service closes. */
  readonly signal: AbortSignal;
  /**
   * Checks that the token still opens the account; long reads call it repeatedly. @throws AppError
   */
  readonly recheck: () => Promise<void>;
}

export function jsonResponse(schema: z.ZodType): ReadResponse {
  return { mediaType: 'application/json', schema };
}
