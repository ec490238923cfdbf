/** Admission as the ingest and read paths use it: independent checks, called in a fixed order. */
import type { Readable } from 'node:stream';
import type {
  Receiver,
  ReceiverGrant,
  ReceiverKind,
  Scope,
  TokenGrant,
  TokenType,
} from '../model/account.ts';
import type { BodyFormat, ContentCoding, Protocol } from '../model/protocol.ts';
import type { RateLimit, RequestHeaders, TokenPlace } from '../model/request.ts';

/** Cached grants of the directory. Rejects with AppError `unavailable` while it is unreachable. */
export interface GrantLookup {
  token(digest: string): Promise<TokenGrant | undefined>;
  receiver(receiverId: string): Promise<ReceiverGrant | undefined>;
  touch(tokenId: string): void;
}

/** A request body of any transport. */
export interface RequestBody {
  readonly stream: Readable;
  /** False if the head declares no body. */
  readonly expected: boolean;
  /** Undefined if not declared. */
  readonly declaredBytes: number | undefined;
  /** Whether the body is complete at the end of the stream: a broken body may end normally. */
  arrivedWhole(): boolean;
  /** The whole body, if it is small and has arrived; null otherwise. Absent = null. */
  readonly takeArrived?: () => Buffer | null;
  /** Sends `100 Continue`; undefined if the sender does not wait for it. */
  readonly sendContinue: (() => void) | undefined;
}

/** A share of the cap on memory in flight. */
export interface MemoryLease {
  /** Grows to cover a body of this size. @throws AppError `unavailable` beyond the cap */
  growTo(bodyBytes: number): void;
  /** Grows to cover this much heap. @throws AppError `unavailable` beyond the cap */
  coverHeap(bytes: number): void;
  /** A pooled buffer for a whole body, valid until the release. */
  buffer(bodyBytes: number): Buffer;
  /** Returns the share and the buffer. Idempotent. */
  release(): void;
}

export interface Bucket {
  /** Name of the policy on the wire; with `owner` the key of the bucket. */
  readonly policy: 'receiver' | 'account';
  readonly owner: string;
  /** The same in all buckets of a charge, so that a cluster keeps them on one node. */
  readonly accountId: string;
  readonly eventsPerSecond: number;
  readonly burstEvents: number;
}

/** Levels of buckets, in memory or shared by several gateways. */
export interface QuotaStore {
  /** Last known level; negative = debt. Unknown buckets are full. */
  level(bucket: Bucket): number;
  /**
   * Charges `events` to all buckets, or to none if one is empty or in debt.
   * @returns whether they were charged
   * @throws AppError `unavailable`
   */
  take(buckets: readonly Bucket[], events: number): boolean | Promise<boolean>;
  giveBack(buckets: readonly Bucket[], events: number): void;
}

/** Events charged to the quotas of a receiver and its account. */
export interface Charge {
  /** Undefined without a limit. */
  readonly rateLimit: RateLimit | undefined;
  /** Returns the events, for a batch that was not appended. */
  refund(): void;
}

/** An accepted connection. */
export interface ConnectionPermit {
  /** Call on close. Idempotent. */
  closed(): void;
  /** Charges the address for an abusive connection. */
  abused(): void;
}

export interface ConnectionGate {
  /** @returns undefined if the address exceeds its limits */
  admit(peerAddress: string): ConnectionPermit | undefined;
  /** For a plain port. @returns undefined unless the address is loopback or a trusted proxy */
  admitProxy(peerAddress: string): ConnectionPermit | undefined;
}

/**
 * How a request without a valid token is answered. `cut`: too many are delayed already; answer at
 * once and close the connection.
 */
export type FailurePace = 'at once' | 'delayed' | 'cut';

export interface Admission {
  /**
   * The bearer token.
   * @param place where else it may be
   * @throws AppError `unauthenticated` unless there is exactly one
   */
  bearer(headers: RequestHeaders, place?: TokenPlace): string;
  /**
   * @throws AppError `unauthenticated` unless the token is known, of this type and valid;
   *   `unavailable`
   */
  token(secret: string, type: TokenType): Promise<TokenGrant>;
  /** Like `token`, by the lower-case hex SHA-256 of the secret. */
  tokenOfDigest(digest: string, type: TokenType): Promise<TokenGrant>;
  /** @throws AppError `not_found` | `unavailable` */
  receiver(receiverId: string): Promise<ReceiverGrant>;
  /**
   * Binding, account, activity, kind, address and scope.
   * @param token undefined for a sender that is bound to the receiver without one
   * @throws AppError `forbidden`
   */
  permitSender(
    token: TokenGrant | undefined,
    receiver: Receiver,
    request: { kind: ReceiverKind; peerAddress: string; headers: RequestHeaders },
  ): void;
  /** @throws AppError `unsupported_media` */
  bodyFormat(
    headers: RequestHeaders,
    rules: Pick<Protocol, 'mediaTypes' | 'takesAnyMediaType' | 'codings' | 'codingAliases'>,
  ): BodyFormat;
  /** @throws AppError `too_large` if the declared length exceeds `maxBodyBytes` */
  checkDeclaredLength(headers: RequestHeaders, maxBodyBytes: number): void;
  /** @throws AppError `quota_exceeded` if a bucket is known to be empty or in debt */
  checkDebt(grant: ReceiverGrant): void;
  /**
   * @param holder owner of the share: the senders or the readers of an account
   * @throws AppError `unavailable` if the cap has no room for the holder
   */
  reserveMemory(holder: string, headers: RequestHeaders, heapBytesPerBodyByte: number): MemoryLease;
  /**
   * The whole body, valid until the lease is released.
   * @throws AppError `too_large` | `timeout` | `malformed` | `unavailable`
   */
  readBody(body: RequestBody, maxBodyBytes: number, memory: MemoryLease): Buffer | Promise<Buffer>;
  /** Removes the content coding. @throws AppError `too_large` | `malformed` | `unavailable` */
  inflate(
    body: Buffer,
    coding: ContentCoding,
    cap: { readonly maxBytes: number; readonly memory: MemoryLease },
  ): Buffer | Promise<Buffer>;
  /**
   * Atomic over the quotas of receiver and account; may leave them in debt.
   * @throws AppError `quota_exceeded` | `unavailable`
   */
  chargeEvents(grant: ReceiverGrant, events: number): Promise<Charge>;

  /**
   * The account named by a reader.
   * @param named every account that the request names
   * @throws AppError `malformed` unless it is one UUID
   */
  activeAccount(named: readonly string[]): string;
  /** @throws AppError `forbidden` */
  permitReader(token: TokenGrant, accountId: string, scope: Scope): void;

  /**
   * Discards a body in flight, so that its sender can read the refusal. Resolves at once if no
   * bytes arrive, and after `maxBytes` or five seconds.
   */
  discardBody(body: RequestBody, maxBytes: number): Promise<void>;
  /** Resolves when the rejection of a token may be sent: delayed if the address fails often. */
  paceFailure(peerAddress: string, forwardedFor: readonly string[]): Promise<FailurePace>;
  /** Estimated heap of requests in flight. */
  memoryInFlight(): number;
}

/** Cached levels of buckets that other processes charge too. */
export interface KnownLevels {
  /** Full if the level is unknown or outdated. */
  level(bucket: Bucket): number;
  note(bucket: Bucket, level: number): void;
}
