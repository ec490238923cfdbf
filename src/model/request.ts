/** The head of a request as every transport provides it, and headers of the response. */

/**
 * Headers that affect the outcome, each with every value sent: a parser that keeps only the first
 * would hide a duplicate.
 */
export interface RequestHeaders {
  readonly authorization: readonly string[];
  /** `DD-API-KEY` */
  readonly datadogKey: readonly string[];
  readonly activeAccount: readonly string[];
  readonly contentType: readonly string[];
  readonly contentEncoding: readonly string[];
  /** Undefined if not declared. */
  readonly contentLength: number | undefined;
  readonly forwardedFor: readonly string[];
  readonly idempotencyKey: readonly string[];
}

/**
 * Where a sender may put its token besides `Authorization: Bearer`: into the password of
 * `Authorization: Basic`, into the header `DD-API-KEY`, or after another scheme: `api-key` is
 * Elasticsearch's, `splunk` Splunk's and `token` InfluxDB's, each of which also takes Basic.
 */
export type TokenPlace = 'basic' | 'dd-api-key' | 'api-key' | 'splunk' | 'token';

/** What path and query of a request say besides the receiver. */
export interface RequestTarget {
  /** Parameters of the path by name. */
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
export interface RateLimit {
  /** `RateLimit-Policy` */
  readonly policy: string;
  /** `RateLimit` */
  readonly state: string;
}
