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
   * @returns what is sent: a value as JSON, a Uint8Array as it is.
   * @throws AppError
   */
  readonly read: (request: ReadRequest) => Promise<unknown>;
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
  /** Undefined = bytes of a format that has no JSON Schema. */
  readonly schema: z.ZodType | undefined;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Failures as JSON of another form. */
export interface ReadFailure {
  readonly schema: z.ZodType;
  readonly encode: (problem: Problem) => EncodedProblem;
}

export interface ReadRequest {
  readonly accountId: string;
  /** As they were sent: which may repeat is for the route to say. */
  readonly search: URLSearchParams;
  /** Variable segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Inflated; empty where the route takes none. It is somebody else's once `read` has settled. */
  readonly body: Uint8Array;
}

export function jsonResponse(schema: z.ZodType): ReadResponse {
  return { mediaType: 'application/json', schema };
}
