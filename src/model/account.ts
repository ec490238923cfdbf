/** Accounts, their streams, receivers and tokens. */
import type { TransformStep } from './transform.ts';

export interface Account {
  /** UUID, lower case. */
  readonly accountId: string;
  readonly name: string;
  /** Events per second over all receivers; null = unlimited. */
  readonly eventsPerSecond: number | null;
  readonly createdAt: string;
}

export interface Stream {
  /** UUID, lower case. */
  readonly streamId: string;
  readonly accountId: string;
  readonly name: string;
  /** Days since receipt; reads apply it exactly. */
  readonly retentionDays: number;
  /** Levels for its metrics (`parseDownsampling`); null = all samples are kept. */
  readonly downsampling: string | null;
  /** ISO time of receipt up to which the stream's data was deleted; null = never. */
  readonly dataDeletedUntil: string | null;
  readonly createdAt: string;
}

export const receiverKinds = ['http_json', 'otlp', 'prometheus'] as const;
export type ReceiverKind = (typeof receiverKinds)[number];

export interface ReceiverLimits {
  /** null = unlimited. */
  readonly eventsPerSecond: number | null;
  /** Burst in events; null = ten seconds of the rate. */
  readonly burstEvents: number | null;
  /** null = the route's maximum. */
  readonly maxBodyBytes: number | null;
}

export interface Receiver {
  /** Opaque, `rcv_` and 26 base32 characters (130 random bits). */
  readonly receiverId: string;
  readonly accountId: string;
  readonly streamId: string;
  readonly name: string;
  readonly kind: ReceiverKind;
  readonly active: boolean;
  /** CIDR ranges that may send; empty = any. */
  readonly allowedCidrs: readonly string[];
  readonly limits: ReceiverLimits;
  /** Changes to its logs before they are stored; empty = none. */
  readonly transform: readonly TransformStep[];
  readonly createdAt: string;
}

/** A search saved for all readers of an account. */
export interface View {
  /** UUID, lower case. */
  readonly viewId: string;
  readonly accountId: string;
  /** Unique within the account. */
  readonly name: string;
  /** Query string of the explorer's URL, without `?`. */
  readonly query: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const ingestScopes = ['ingest:write'] as const;
export const accessScopes = [
  'logs:read',
  'analytics:read',
  'metrics:read',
  'admin',
  'operator',
] as const;
export type Scope = (typeof ingestScopes)[number] | (typeof accessScopes)[number];

export type TokenType = 'ingest' | 'access';

/** A token as listed: without its secret, of which only a SHA-256 digest is stored. */
export interface Token {
  /** Public id, `tok_` and 26 base32 characters; not the secret. */
  readonly tokenId: string;
  readonly type: TokenType;
  readonly name: string;
  /**
   * Ingest: exactly one. Access: one or more; none with `allAccounts`, or for an operator token
   * whose accounts were deleted.
   */
  readonly accountIds: readonly string[];
  /** Opens every account, including future ones; operator tokens only. */
  readonly allAccounts: boolean;
  /** Ingest tokens only. */
  readonly receiverId: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** Written at most once a minute. */
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

/** What a token grants; looked up by the SHA-256 digest of the secret. */
export interface TokenGrant
  extends Pick<Token, 'tokenId' | 'type' | 'accountIds' | 'allAccounts' | 'receiverId'> {
  readonly scopes: ReadonlySet<Scope>;
  /** Unix ms, or null. Checked by the caller against its own clock. */
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
}

/** A receiver with the limit of its account. */
export interface ReceiverGrant {
  readonly receiver: Receiver;
  readonly accountEventsPerSecond: number | null;
}
