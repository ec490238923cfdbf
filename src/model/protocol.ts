/**
 * What the ingest spine needs of a wire protocol, as one plain value: what it accepts, how its
 * bytes become a batch and how a batch becomes an answer. Each folder of src/protocols/ makes one;
 * none of them knows HTTP.
 */
import type { ReceiverKind } from './account.ts';
import type { Batch } from './batch.ts';
import type { SeriesView } from './series-view.ts';

export type ContentCoding = 'identity' | 'gzip' | 'snappy';

export interface MediaTypeRule {
  /** Lower case, e.g. `application/json`. `charset=utf-8` may always stand beside it. */
  readonly name: string;
  /** Other parameters that may stand beside it, lower case, each with the values it may have. */
  readonly parameters?: Readonly<Record<string, readonly string[]>>;
}

/** How the body of one request is written; settled from its headers, before the body is read. */
export interface BodyFormat {
  /** One of the protocol's media types, lower case, without parameters. */
  readonly mediaType: string;
  /** The parameters that were sent, lower case, `charset` left out. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly coding: ContentCoding;
}

export interface DecodeLimits {
  /** More records than this are `too_large`. */
  readonly maxEvents: number;
  /** Deeper nesting is `malformed`. */
  readonly maxDepth: number;
  /** Rejections listed in the answer; all are counted. */
  readonly maxRejections: number;
}

/** Largest bodies in one format, in bytes. */
export interface BodyCaps {
  /** As the body travels; a receiver may have a lower one. */
  readonly travelling: number;
  /** Once inflated; the same as `travelling` where nothing is. */
  readonly inflated: number;
}

/** What a decoder is told besides the bytes. */
export interface DecodeContext {
  readonly limits: DecodeLimits;
  /** Unix ms; the time of all samples of a request that have none of their own. */
  readonly nowMs: number;
  readonly series: SeriesView;
}

/** A success answer. */
export interface Reply {
  readonly status: number;
  /** Undefined where there is no body. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array | string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A message taken out of the framing of its transport. */
export interface Unframed {
  readonly message: Buffer;
  readonly coding: ContentCoding;
}

/** A failed request as the sender may see it. */
export interface Problem {
  readonly status: number;
  /** Numeric gRPC status (https://grpc.io/docs/guides/status-codes). */
  readonly grpcCode: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly parameter: string | undefined;
  /** Whole seconds after which the same request may succeed; undefined where it never will. */
  readonly retryAfterSeconds: number | undefined;
}

export interface EncodedProblem {
  /** In place of the problem's own, where a protocol gives another meaning to it. */
  readonly status?: number;
  /** Whole seconds, for a status that says to come again where the problem's own does not. */
  readonly retryAfterSeconds?: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

export interface Protocol {
  /** A fixed word such as `json_logs`; labels metrics. */
  readonly name: string;
  /** Receivers that take it. */
  readonly kind: ReceiverKind;
  readonly mediaTypes: readonly MediaTypeRule[];
  /** `identity` is listed where a body without coding is welcome. */
  readonly codings: readonly ContentCoding[];
  /** Largest body that travels, in any format. */
  readonly maxBodyBytes: number;
  readonly limits: DecodeLimits;
  /**
   * Peak heap that one byte of the (inflated) body costs until its batch is durable; counts against
   * the in-flight cap.
   */
  readonly heapBytesPerBodyByte: number;

  bodyCaps(format: BodyFormat): BodyCaps;

  /**
   * Takes the message out of what the transport has put around it; absent = the body is the
   * message. Pure.
   * @throws AppError `malformed` | `too_large` | `unsupported_media`
   */
  unframe?(body: Buffer, format: BodyFormat): Unframed;

  /**
   * May yield to the event loop for large bodies. `body` must not be kept or written to.
   * @throws AppError `malformed` | `too_large`, and of metrics `quota_exceeded` where there would
   *   be too many series; nothing else
   */
  decode(body: Buffer, format: BodyFormat, context: DecodeContext): Batch | Promise<Batch>;

  /** The answer once what the batch holds is durable. */
  reply(batch: Batch, format: BodyFormat): Reply;

  /**
   * Where errors do not travel as problem+json (RFC 9457).
   * @param contentType as sent, unchecked: a request may fail before its content type is looked at.
   */
  encodeProblem?(problem: Problem, contentType: string | undefined): EncodedProblem;
}
