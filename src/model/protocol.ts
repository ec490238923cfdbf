/**
 * A wire protocol as one value: its routes, what it accepts, how a body becomes a batch and a batch
 * becomes an answer. Each folder of src/protocols/ creates one or two; src/service/protocols.ts
 * lists them. A protocol does not know HTTP.
 */
import type { z } from 'zod';
import type { ReceiverKind } from './account.ts';
import type { Batch } from './batch.ts';
import type { ErrorCode } from './errors.ts';
import type { SeriesView } from './series-view.ts';
import type { RequestTarget, TokenPlace } from './request.ts';

export type ContentCoding = 'identity' | 'gzip' | 'deflate' | 'zstd' | 'snappy';

export interface MediaTypeRule {
  /** Lower case, e.g. `application/json`. The parameter `charset=utf-8` is always allowed. */
  readonly name: string;
  /** Further allowed parameters and their allowed values, in lower case. */
  readonly parameters?: Readonly<Record<string, readonly string[]>>;
  /** Names of parameters that must be sent. */
  readonly required?: readonly string[];
}

/** Format of a request body, determined from the headers before the body is read. */
export interface BodyFormat {
  /** One of the protocol's media types, lower case, without parameters. */
  readonly mediaType: string;
  /** Parameters of the media type as sent, in lower case, without `charset`. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly coding: ContentCoding;
}

export interface DecodeLimits {
  /** A body with more records fails with `too_large`. */
  readonly maxEvents: number;
  /** A body with deeper nesting fails with `malformed`. */
  readonly maxDepth: number;
  /** Rejections listed in the answer. All are counted. */
  readonly maxRejections: number;
}

/** Largest bodies in one format, in bytes. */
export interface BodyCaps {
  /** On the wire. A receiver may have a lower cap. */
  readonly wireBytes: number;
  /** After decompression; equal to `wireBytes` for bodies without a content coding. */
  readonly inflatedBytes: number;
}

export function capsOf(
  protocol: Pick<Protocol, 'bodyCaps' | 'maxBodyBytes'>,
  format: BodyFormat,
): BodyCaps {
  const { maxBodyBytes } = protocol;
  return protocol.bodyCaps?.(format) ?? { wireBytes: maxBodyBytes, inflatedBytes: maxBodyBytes };
}

/** Input of a decoder besides the body. */
export interface DecodeContext {
  readonly limits: DecodeLimits;
  /** Unix ms; the time of samples sent without a timestamp. */
  readonly nowMs: number;
  readonly series: SeriesView;
  /** Absent on gRPC. */
  readonly target?: RequestTarget | undefined;
  /**
   * Counts the heap of the request where it exceeds `heapBytesPerBodyByte`; absent = no limit.
   * @throws AppError `unavailable`
   */
  readonly coverHeap?: (bytes: number) => void;
}

/** A success answer. */
export interface Reply {
  readonly status: number;
  /** Undefined for an answer without a body. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array | string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A message without the framing of its transport. */
export interface Unframed {
  readonly message: Buffer;
  readonly coding: ContentCoding;
}

/** A failed request as shown to the sender. */
export interface Problem {
  readonly status: number;
  /** Numeric gRPC status (https://grpc.io/docs/guides/status-codes). */
  readonly grpcCode: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly parameter: string | undefined;
  /** Whole seconds until a retry may succeed; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds: number | undefined;
}

export interface EncodedProblem {
  /** Replaces the problem's status if the protocol gives that status another meaning. */
  readonly status?: number;
  /** Whole seconds; for a retryable `status` of a problem that is not. */
  readonly retryAfterSeconds?: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

/** A request or response body in OpenAPI. */
export interface BodyDescription {
  /** Undefined = bytes, or text that is not JSON. */
  readonly schema: z.ZodType | undefined;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface AnswerDescription {
  readonly description: string;
  /** Descriptions of headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By media type; absent for an answer without a body. */
  readonly content?: Readonly<Record<string, BodyDescription>>;
}

/** A route in OpenAPI. */
export interface IngestDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly details: string;
  /** By media type. */
  readonly request: Readonly<Record<string, BodyDescription>>;
  /** Success answers by status. Errors common to all routes are added. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Error bodies by media type, for a protocol that does not answer problem+json. */
  readonly errors?: Readonly<Record<string, BodyDescription>>;
  /** Error codes that `encodeProblem` answers with the status of another code. */
  readonly unanswered?: readonly ErrorCode[];
}

export interface HttpRoute {
  /** Path of the POST route below the receiver's address, without a leading slash. */
  readonly path: string;
  /** Whether some clients send with PUT. */
  readonly takesPut?: true;
  /** Further paths of the same route; `:name` is a parameter. */
  readonly otherPaths?: readonly string[];
  /**
   * Prefix below the receiver's address. Requests to unknown paths below it are answered by
   * `encodeProblem`: senders that append paths to the prefix cannot parse problem+json.
   */
  readonly prefix?: string;
  /** Paths at the root, for senders whose paths are fixed: the token names the receiver. */
  readonly tokenPaths?: readonly `/${string}`[];
  /** Requests that clients make besides the POST. */
  readonly statusRoutes?: readonly StatusRoute[];
  readonly description: IngestDescription;
}

/** A request that stores nothing: a client asks for a version, or creates a template. */
export interface StatusRoute {
  readonly methods: readonly ('GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT')[];
  /** Below the receiver's address, or with a leading slash at the root. */
  readonly path: string;
  /** Answered without a token, such as a health check. */
  readonly isPublic?: true;
  /** @throws AppError `malformed` */
  answer(target: RequestTarget, body: Buffer): Reply;
}

/** Splits one step off a body that arrives in chunks. */
export interface StepReader {
  /**
   * @returns the bytes to keep, which may share memory with the chunk, and where in the chunk the
   *   step ends; undefined if it continues
   * @throws AppError `malformed`
   */
  push(chunk: Buffer): { readonly kept: Buffer; readonly end: number | undefined };
}

/** How a body that may have no end is stored while it is read: in steps of whole records. */
export interface StepFormat {
  open(): StepReader;
  /**
   * Identifies the first record of a step, by which records sent again are recognised; undefined =
   * it has no identity. @throws AppError `malformed`
   */
  keyOf(step: Buffer): string | undefined;
  /**
   * @returns the step without its first records, and how many these are where it has fewer
   * @throws AppError `malformed`
   */
  skip(step: Buffer, records: number): { readonly rest: Buffer; readonly skipped: number };
  /** @returns the position of the last record of a step. @throws AppError `malformed` */
  lastOf(step: Buffer): number;
  /** The answer of a step or a body with this many records. */
  reply(records: number): Reply;
  /** @returns the records of a step with this answer */
  countOf(reply: Reply): number;
}

/** Where a step is in its body. */
export interface StepPlace {
  /** Whether the body may end with the step; known once the step is read. */
  mayBeLast(): boolean;
  /** Records at its start that are stored; after it those at the start of the next step. */
  stored: number;
}

export interface Protocol {
  /** A fixed word such as `json_logs`; a label of metrics. */
  readonly name: string;
  /** Kind of the receivers that take this protocol. */
  readonly kind: ReceiverKind;
  /** Undefined for a protocol without an HTTP route. */
  readonly http: HttpRoute | undefined;
  /** gRPC method, `package.Service/Method`. The token names the receiver. */
  readonly grpcMethod?: string;
  /** Where the token may be besides `Authorization: Bearer`. */
  readonly tokenPlace?: TokenPlace;
  readonly mediaTypes: readonly MediaTypeRule[];
  /**
   * Senders name any content type, or none; the first of `mediaTypes` is that of every body.
   */
  readonly takesAnyMediaType?: true;
  /** Includes `identity` if bodies without a content coding are accepted. */
  readonly codings: readonly ContentCoding[];
  /** Further values of `Content-Encoding`, without spaces. */
  readonly codingAliases?: Readonly<Record<string, ContentCoding>>;
  /** What to change in a sender whose format is refused; ends the message of a 415. */
  readonly formatAdvice?: string;
  /** Largest body on the wire, in any format; with `steps` the largest step. */
  readonly maxBodyBytes: number;
  /** Absent = a body is stored as a whole. */
  readonly steps?: StepFormat;
  readonly limits: DecodeLimits;
  /**
   * Peak heap per byte of the inflated body until its batch is durable. Counts against the cap on
   * memory in flight.
   */
  readonly heapBytesPerBodyByte: number;

  /** Absent = `maxBodyBytes`, also after decompression. */
  bodyCaps?(format: BodyFormat): BodyCaps;

  /**
   * Removes the framing of the transport; absent = the body is the message. Pure.
   * @throws AppError `malformed` | `too_large` | `unsupported_media`
   */
  unframe?(body: Buffer, format: BodyFormat): Unframed;

  /**
   * Yields to the event loop between slices of a large body. Must neither keep nor modify `body`.
   * @throws AppError `malformed` | `too_large`; for metrics also `quota_exceeded` when the account
   *   has too many series
   */
  decode(body: Buffer, format: BodyFormat, context: DecodeContext): Batch | Promise<Batch>;

  /** The answer once the batch is durable. */
  reply(batch: Batch, format: BodyFormat, target?: RequestTarget): Reply;

  /**
   * Encodes errors; absent = problem+json (RFC 9457).
   * @param contentType as sent and unchecked: a request may fail before its content type is checked
   */
  encodeProblem?(problem: Problem, contentType: string | undefined): EncodedProblem;
}
