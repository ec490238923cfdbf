/**
 * Admission as the spines and the edge see it: one small check per line of the order in which
 * requests are admitted. The order itself belongs to the spines; a check knows nothing of the
 * others.
 */
import type { Readable } from 'node:stream';
import type { Receiver, ReceiverKind, Scope, TokenType } from '../model/account.ts';
import type { BodyFormat, ContentCoding, Protocol } from '../model/protocol.ts';
import type { RateLimit, RequestHeaders } from '../model/request.ts';

/** A known token; the directory's `TokenGrant` fits. */
export interface TokenFacts {
  readonly tokenId: string;
  readonly type: TokenType;
  readonly accountIds: readonly string[];
  /** Whether it opens every account. */
  readonly allAccounts: boolean;
  readonly receiverId: string | null;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
}

/** A known receiver; the directory's `ReceiverGrant` fits. */
export interface ReceiverFacts {
  readonly receiver: Receiver;
  readonly accountEventsPerSecond: number | null;
}

/**
 * What admission asks of the directory's cached view. Rejects with AppError `unavailable` while it
 * is away.
 */
export interface GrantLookup {
  token(digest: string): Promise<TokenFacts | undefined>;
  receiver(receiverId: string): Promise<ReceiverFacts | undefined>;
  touch(tokenId: string): void;
}

/** A request body on its way in, on whatever transport. */
export interface RequestBody {
  readonly stream: Readable;
  /** False where the head already said that nothing follows. */
  readonly expected: boolean;
  /** Undefined where none was declared. */
  readonly declaredBytes: number | undefined;
  /**
   * Whether all of it came, once the stream has ended: some transports end a broken body like a
   * whole one.
   */
  arrivedWhole(): boolean;
  /** Tells a sender that waits for `100 Continue` to go on; undefined where none waits. */
  readonly sendContinue: (() => void) | undefined;
}

/** A share of the in-flight cap. */
export interface MemoryLease {
  /**
   * Makes it cover a body of this size. @throws AppError `unavailable` when the cap does not allow
   * it.
   */
  growTo(bodyBytes: number): void;
  /**
   * Makes it cover so much heap, whatever the body's size let expect. @throws AppError
   * `unavailable`
   */
  coverHeap(bytes: number): void;
  /** Room for a whole body, used again by others after the release. */
  buffer(bodyBytes: number): Buffer;
  /** Gives the share back, and the body with it; may be called twice. */
  release(): void;
}

export interface Bucket {
  /** Names the policy on the wire and, with `owner`, the bucket. */
  readonly policy: 'receiver' | 'account';
  readonly owner: string;
  /** The same in all buckets of a charge, so that a store of many nodes keeps them on one. */
  readonly accountId: string;
  readonly eventsPerSecond: number;
  readonly burstEvents: number;
}

/** Where the levels are kept. In memory, or shared by several gateways. */
export interface QuotaStore {
  /** Last known level, without waiting; negative = debt. Unknown buckets are full. */
  level(bucket: Bucket): number;
  /**
   * Takes `events` from all buckets or from none: none where one is empty or in debt.
   * @returns whether they were taken
   * @throws AppError `unavailable`
   */
  take(buckets: readonly Bucket[], events: number): boolean | Promise<boolean>;
  giveBack(buckets: readonly Bucket[], events: number): void;
}

/** Events taken from the quotas of a receiver and its account. */
export interface Charge {
  /** Undefined where neither has a limit. */
  readonly rateLimit: RateLimit | undefined;
  /** Gives the events back, for a batch that could not be kept. */
  refund(): void;
}

/** A connection that was taken. */
export interface ConnectionPermit {
  /** To be called when it is closed; may be called twice. */
  closed(): void;
  /** It is cut off for what came over it: others from its address have to wait for that. */
  abused(): void;
}

export interface ConnectionGate {
  /** @returns undefined where this address may open no further connection now */
  admit(peerAddress: string): ConnectionPermit | undefined;
}

/**
 * How a request without a token in force is answered. `cut`: more of them than may wait; the answer
 * goes out at once and the connection takes no further request.
 */
export type FailurePace = 'at once' | 'delayed' | 'cut';

export interface Admission {
  /** The one bearer token. @throws AppError `unauthenticated` */
  bearer(headers: RequestHeaders): string;
  /**
   * @throws AppError `unauthenticated` unless the token is known, of this type and in force;
   * `unavailable`
   */
  token(secret: string, type: TokenType): Promise<TokenFacts>;
  /** The same by the lower-case hex SHA-256 of the secret, for whoever keeps no secrets. */
  tokenOfDigest(digest: string, type: TokenType): Promise<TokenFacts>;
  /** @throws AppError `not_found` | `unavailable` */
  receiver(receiverId: string): Promise<ReceiverFacts>;
  /** Binding, account, activity, kind, address and scope. @throws AppError `forbidden` */
  permitSender(
    token: TokenFacts,
    receiver: Receiver,
    request: { kind: ReceiverKind; peerAddress: string; headers: RequestHeaders },
  ): void;
  /** @throws AppError `unsupported_media` */
  bodyFormat(headers: RequestHeaders, rules: Pick<Protocol, 'mediaTypes' | 'codings'>): BodyFormat;
  /** @throws AppError `too_large` when more is declared than `maxBodyBytes` */
  checkDeclaredLength(headers: RequestHeaders, maxBodyBytes: number): void;
  /** @throws AppError `quota_exceeded` while the last known state of a quota is debt */
  checkDebt(grant: ReceiverFacts): void;
  /**
   * @param holder whose share it is: an account's senders, or its readers
   * @throws AppError `unavailable` when the in-flight cap leaves no room for the holder
   */
  reserveMemory(holder: string, headers: RequestHeaders, heapBytesPerBodyByte: number): MemoryLease;
  /**
   * The whole body, to be read until the lease is released. @throws AppError `too_large` |
   * `timeout` | `malformed` | `unavailable`
   */
  readBody(body: RequestBody, maxBodyBytes: number, memory: MemoryLease): Promise<Buffer>;
  /**
   * The body without its content coding; the body itself where it has none. @throws AppError
   * `too_large` | `malformed` | `unavailable`
   */
  inflate(
    body: Buffer,
    coding: ContentCoding,
    cap: { readonly maxBytes: number; readonly memory: MemoryLease },
  ): Buffer | Promise<Buffer>;
  /**
   * Atomic over both quotas; may leave them in debt. @throws AppError `quota_exceeded` |
   * `unavailable`
   */
  chargeEvents(grant: ReceiverFacts, events: number): Promise<Charge>;

  /** The account that a reader named. @throws AppError `malformed` */
  activeAccount(headers: RequestHeaders): string;
  /** @throws AppError `forbidden` */
  permitReader(token: TokenFacts, accountId: string, scope: Scope): void;

  /**
   * Lets a body that is already flowing run dry, unread, so that its sender gets to read the
   * refusal. Resolves at once when nothing flows; after `maxBytes` or five seconds it no longer
   * waits.
   */
  discardBody(body: RequestBody, maxBytes: number): Promise<void>;
  /** Resolves when the refusal of a token may be sent: soon, unless its address fails often. */
  paceFailure(peerAddress: string, forwardedFor: readonly string[]): Promise<FailurePace>;
  /** Estimated heap of the bodies that are being worked on. */
  memoryInFlight(): number;
}

/** What is remembered of levels that others charge too, between two answers. */
export interface KnownLevels {
  /** Full where nothing is known, or nothing recent. */
  level(bucket: Bucket): number;
  note(bucket: Bucket, level: number): void;
}
