/**
 * The directory of accounts, streams, receivers and tokens. Admission asks `Grants`, the control API uses `Directory`.
 */
import type { Account, Receiver, Scope, Stream, Token, TokenType } from '../model/account.ts';

/** What a token opens; looked up by the SHA-256 digest of the secret. */
export interface TokenGrant {
  readonly tokenId: string;
  readonly type: TokenType;
  readonly accountIds: readonly string[];
  readonly receiverId: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Unix ms, or null. Checked by the caller against its own clock. */
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
}

/** A receiver with what its account says of it. */
export interface ReceiverGrant {
  readonly receiver: Receiver;
  readonly accountEventsPerSecond: number | null;
}

/** Cached view, fresh within 5 s. Every call may reject with AppError `unavailable` when the directory is away. */
export interface Grants {
  /** @param digest lower-case hex SHA-256 of the whole secret. */
  token(digest: string): Promise<TokenGrant | undefined>;
  receiver(receiverId: string): Promise<ReceiverGrant | undefined>;
  /** The account's streams, for reads. */
  streams(accountId: string): Promise<readonly Stream[]>;
  /** Notes that the token was used now; written later, at most once a minute. */
  touch(tokenId: string): void;
}

export interface NewToken {
  readonly type: TokenType;
  readonly name: string;
  readonly accountIds: readonly string[];
  readonly receiverId: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  /** Lower-case hex SHA-256 of the secret; the secret itself never reaches the directory. */
  readonly digest: string;
}

/** Every write is durable when its promise resolves. Unknown ids resolve to undefined. @throws AppError */
export interface Directory {
  listAccounts(): Promise<Account[]>;
  getAccount(accountId: string): Promise<Account | undefined>;
  createAccount(account: Pick<Account, 'name' | 'eventsPerSecond'>): Promise<Account>;
  updateAccount(
    accountId: string,
    change: Partial<Pick<Account, 'name' | 'eventsPerSecond'>>,
  ): Promise<Account | undefined>;
  /** Refused with `conflict` while it has streams or receivers. */
  deleteAccount(accountId: string): Promise<boolean>;

  listStreams(accountId: string): Promise<Stream[]>;
  /** Of all accounts, for retention. */
  listAllStreams(): Promise<Stream[]>;
  getStream(streamId: string): Promise<Stream | undefined>;
  createStream(stream: Pick<Stream, 'accountId' | 'name' | 'retentionDays'>): Promise<Stream>;
  updateStream(
    streamId: string,
    change: Partial<Pick<Stream, 'name' | 'retentionDays' | 'dataDeletedUntil'>>,
  ): Promise<Stream | undefined>;
  /** Refused with `conflict` while receivers feed it. */
  deleteStream(streamId: string): Promise<boolean>;

  listReceivers(accountId: string): Promise<Receiver[]>;
  getReceiver(receiverId: string): Promise<Receiver | undefined>;
  createReceiver(receiver: Omit<Receiver, 'receiverId' | 'createdAt'>): Promise<Receiver>;
  updateReceiver(
    receiverId: string,
    change: Partial<Pick<Receiver, 'name' | 'active' | 'allowedCidrs' | 'limits' | 'streamId'>>,
  ): Promise<Receiver | undefined>;
  /** Revokes its tokens with it. */
  deleteReceiver(receiverId: string): Promise<boolean>;

  listTokens(accountId: string): Promise<Token[]>;
  getToken(tokenId: string): Promise<Token | undefined>;
  createToken(token: NewToken): Promise<Token>;
  updateToken(
    tokenId: string,
    change: Partial<Pick<Token, 'name' | 'expiresAt'>>,
  ): Promise<Token | undefined>;
  /** Replaces the secret's digest; the old secret stops working. */
  rotateToken(tokenId: string, digest: string): Promise<Token | undefined>;
  revokeToken(tokenId: string): Promise<Token | undefined>;
  deleteToken(tokenId: string): Promise<boolean>;

  close(): Promise<void>;
}
