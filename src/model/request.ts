/**
 * What every transport hands over of a request's head, and what it is told to send with the answer.
 */

/**
 * The headers that decide anything, each with every value that was sent, in order: a parser that
 * keeps only the first of two would hide the second.
 */
export interface RequestHeaders {
  readonly authorization: readonly string[];
  readonly activeAccount: readonly string[];
  readonly contentType: readonly string[];
  readonly contentEncoding: readonly string[];
  /** Undefined where none was declared. */
  readonly contentLength: number | undefined;
  readonly forwardedFor: readonly string[];
  readonly idempotencyKey: readonly string[];
}

/** The two fields of draft-ietf-httpapi-ratelimit-headers, ready to send. */
export interface RateLimit {
  /** `RateLimit-Policy` */
  readonly policy: string;
  /** `RateLimit` */
  readonly state: string;
}
