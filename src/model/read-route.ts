/**
 * A read as plain data: a spine makes it; the edge mounts it, checks who asks, and describes it in
 * the OpenAPI document. It knows neither HTTP's ways nor what is read.
 */
import type { z } from 'zod';
import type { Scope } from './account.ts';
import type { ContentCoding, EncodedProblem, MediaTypeRule, Problem } from './protocol.ts';

export interface ReadRoute {
  /** Variable segments as `:name`. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly operationId: string;
  readonly summary: string;
  /** What else there is to say of it, for the OpenAPI document. */
  readonly description?: string;
  readonly scope: Scope;
  /**
   * A parameter of the URL that may name the account in place of the header, for clients that can
   * send no header of their own; absent = the header it must be.
   */
  readonly accountParameter?: string;
  /** Variable segments of the path; absent = none. */
  readonly params?: z.ZodObject;
  /** Parameters in the URL, and in the form where the body is one. */
  readonly query: z.ZodObject;
  /** Absent = a body is not looked at. */
  readonly body?: ReadBody;
  /** Undefined = it never succeeds: it is there for what it says, and not described. */
  readonly response: ReadResponse | undefined;
  /** Absent = problem+json (RFC 9457). */
  readonly failure?: ReadFailure;
  /**
   * @returns what is sent: a value as JSON, a Uint8Array as it is, a StreamedAnswer as it comes.
   * @throws AppError
   */
  readonly read: (request: ReadRequest) => Promise<unknown>;
}

/**
 * A read that needs no token: its path carries a ticket that was given out to somebody who had one.
 */
export interface TicketRoute {
  /** Variable segments as `:name`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  /** Media types of the answer. */
  readonly mediaTypes: readonly string[];
  /** What the token of whoever it was given out to must still be good for. */
  readonly scope: Scope;
  /** @throws AppError */
  readonly read: (request: TicketRequest) => Promise<StreamedAnswer>;
}

export interface TicketRequest {
  readonly params: Readonly<Record<string, string>>;
  /** Aborted once the reader has left or the service closes. */
  readonly signal: AbortSignal;
  /** Whether the token of an earlier request still opens its account for this. @throws AppError */
  readonly permit: (reader: Reader) => Promise<void>;
}

/** Who has asked, as it can be kept until later, or for another process. */
export interface Reader {
  readonly accountId: string;
  /** Lower-case hex SHA-256 of the token. */
  readonly tokenDigest: string;
}

/**
 * An answer without an end in sight, or too large to be held: sent chunk by chunk, as fast as its
 * reader takes it. What fails before the first chunk is an answer of its own; what fails after it
 * breaks the connection off, so that nothing short looks complete.
 */
export class StreamedAnswer {
  readonly mediaType: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its `return` is called when the reader leaves. */
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

/** For whom a read is done, and for how long. */
export interface Asker {
  readonly accountId: string;
  /** Aborted once the reader has left: nobody waits for the answer any more. */
  readonly left?: AbortSignal;
}

export interface ReadBody {
  readonly mediaTypes: readonly MediaTypeRule[];
  /** The fields of a `form` are parameters like those in the URL; a `message` is the route's. */
  readonly kind: 'form' | 'message';
  readonly codings: readonly ContentCoding[];
  /** Largest body as it travels, and largest once inflated. */
  readonly maxBytes: number;
}

export interface ReadResponse {
  readonly mediaType: string;
  /** Undefined = bytes of a format that has no JSON Schema, or of one of several formats. */
  readonly schema: z.ZodType | undefined;
  /** Others that it may have, as the request decides. */
  readonly otherMediaTypes?: readonly string[];
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Failures as JSON of another form. */
export interface ReadFailure {
  readonly schema: z.ZodType;
  readonly encode: (problem: Problem) => EncodedProblem;
}

export interface ReadRequest extends Reader, Asker {
  /** As they were sent: which may repeat is for the route to say. */
  readonly search: URLSearchParams;
  /** Variable segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Inflated; empty where the route takes none. It is somebody else's once `read` has settled. */
  readonly body: Uint8Array;
  /** Of `Last-Event-ID`: where a reader of an event stream left off. */
  readonly lastEventId: string | undefined;
  /** Aborted once the reader has left or the service closes. */
  readonly signal: AbortSignal;
  /**
   * Whether the token still opens the account for this: to be asked now and then by what goes on
   * for long. @throws AppError
   */
  readonly recheck: () => Promise<void>;
}

export function jsonResponse(schema: z.ZodType): ReadResponse {
  return { mediaType: 'application/json', schema };
}
