/**
 * What the ingest spine needs of a wire protocol, as one plain value: what it accepts, how its
 * bytes become a batch and how a batch becomes an answer. Each folder of src/protocols/ makes one;
 * none of them knows HTTP.
 */
import type { ReceiverKind } from './account.ts';
import type { Batch } from './batch.ts';

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
}

export interface EncodedProblem {
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
  /** Cap of the body as it travels; a receiver may have a lower one. */
  readonly maxBodyBytes: number;
  readonly limits: DecodeLimits;
  /**
   * Peak heap that one body byte costs until its batch is durable; counts against the in-flight
   * cap.
   */
  readonly heapBytesPerBodyByte: number;
  readonly successStatus: 200 | 202 | 204;

  /**
   * May yield to the event loop for large bodies. `body` must not be kept or written to.
   * @throws AppError `malformed` | `too_large`, and nothing else
   */
  decode(body: Buffer, format: BodyFormat, limits: DecodeLimits): Batch | Promise<Batch>;

  /** The body of the success answer. */
  encodeReply(batch: Batch, format: BodyFormat): Uint8Array | string;
  /** Content type of success answers; undefined where they have no body. */
  replyType(format: BodyFormat): string | undefined;

  /**
   * Where errors do not travel as problem+json (RFC 9457).
   * @param contentType as sent, unchecked: a request may fail before its content type is looked at.
   */
  encodeProblem?(problem: Problem, contentType: string | undefined): EncodedProblem;
}
