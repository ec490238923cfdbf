/**
 * The directory of accounts, streams, receivers and tokens. Admission asks `Grants`, the control
 * API uses `Directory`.
 */
import type {
  Account,
  Receiver,
  ReceiverLimits,
  Scope,
  Stream,
  Token,
  TokenType,
  View,
} from '../model/account.ts';
import type {
  MinuteSpan,
  ReceiverHistory,
  StatisticsAddition,
} from '../model/receiver-statistics.ts';

/** What a token opens; looked up by the SHA-256 digest of the secret. */
export interface TokenGrant {
  readonly tokenId: string;
  readonly type: TokenType;
  readonly accountIds: readonly string[];
  readonly allAccounts: boolean;
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

/**
 * Cached view, fresh within 5 s. Every call may reject with AppError `unavailable` when the
 * directory is away.
 */
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
  /** Only with the scope `operator` and without `accountIds`. */
  readonly allAccounts: boolean;
  readonly receiverId: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  /** Lower-case hex SHA-256 of the secret; the secret itself never reaches the directory. */
  readonly digest: string;
}

/** What a `Grants` asks of the directory, uncached. @throws AppError `unavailable` */
export interface GrantSource {
  /**
   * A token whose accounts are all gone opens nothing, and one of a deleted receiver is revoked.
   */
  findToken(digest: string): Promise<TokenGrant | undefined>;
  findReceiver(receiverId: string): Promise<ReceiverGrant | undefined>;
  listStreams(accountId: string): Promise<Stream[]>;
  /**
   * The latest use counts, whoever writes last.
   * @param usedAtMs token id to the Unix ms of its last use; unknown ids are skipped.
   */
  noteTokensUsed(usedAtMs: ReadonlyMap<string, number>): Promise<void>;
}

/**
 * What a first run creates, with ids chosen beforehand so that it can be repeated after a crash.
 */
export interface DirectorySeed {
  readonly account: Pick<Account, 'accountId' | 'name'>;
  readonly stream: Pick<Stream, 'streamId' | 'name' | 'retentionDays'>;
  readonly receivers: readonly Pick<Receiver, 'receiverId' | 'name' | 'kind'>[];
  /** Bound to the seed's account; ingest tokens to one of its receivers. */
  readonly tokens: readonly Omit<NewToken, 'accountIds' | 'allAccounts' | 'expiresAt'>[];
}

/** Only what is given changes, each limit by itself. */
export interface ReceiverChange
  extends Partial<Pick<Receiver, 'name' | 'active' | 'allowedCidrs' | 'streamId'>> {
  readonly limits?: Partial<ReceiverLimits>;
}

/**
 * Where statistics of receivers are kept. They go with their receiver. @throws AppError
 * `unavailable`
 */
export interface StatisticsStore {
  /**
   * Adds counts to those that are there, in one transaction, so that several gateways can write
   * beside each other. What is of unknown receivers is left out. No receiver and minute, and no
   * reason of one, may stand in it twice.
   * @returns which of the receivers are known.
   */
  addStatistics(addition: StatisticsAddition): Promise<ReadonlySet<string>>;
  /** Empty for an unknown receiver. */
  findStatistics(receiverId: string, span: MinuteSpan): Promise<ReceiverHistory>;
  /** Forgets counts and samples of minutes before this one. */
  pruneStatistics(beforeMinute: number): Promise<void>;
}

/** Saved views; they go with their account. @throws AppError `unavailable` */
export interface ViewStore {
  /** By name. */
  listViews(accountId: string): Promise<View[]>;
  getView(viewId: string): Promise<View | undefined>;
  /**
   * @param maxViews of one account.
   * @throws AppError `conflict` where the name is taken or there are as many; `not_found`
   */
  createView(view: Pick<View, 'accountId' | 'name' | 'query'>, maxViews: number): Promise<View>;
  /** @throws AppError `conflict` where the name is taken */
  updateView(
    viewId: string,
    change: Partial<Pick<View, 'name' | 'query'>>,
  ): Promise<View | undefined>;
  deleteView(viewId: string): Promise<boolean>;
}

/** An export that somebody with a token asked for, to be fetched by whoever holds its ticket. */
export interface NewTicket {
  /** Lower-case hex SHA-256 of the ticket; the ticket itself never reaches the directory. */
  readonly digest: string;
  readonly accountId: string;
  /** Of the token that asked, in the same form. */
  readonly tokenDigest: string;
  /** What was asked, as in a URL. */
  readonly query: string;
}

export interface TakenTicket extends NewTicket {
  /** Unix ms, by the directory's clock. */
  readonly expiresAtMs: number;
}

/**
 * Tickets of exports, for any node to redeem. They expire by the directory's own clock, which is
 * one for all nodes. @throws AppError `unavailable`
 */
export interface TicketStore {
  /**
   * @param limits `maxTickets` of one account; those that ask at the same moment may pass it.
   * @returns when it expires, Unix ms; undefined where as many wait already
   */
  keepTicket(
    ticket: NewTicket,
    limits: { readonly ttlMs: number; readonly maxTickets: number },
  ): Promise<number | undefined>;
  /** Takes it away from everybody else; undefined where it is unknown, taken or too old. */
  takeTicket(digest: string): Promise<TakenTicket | undefined>;
  /** Lets it be taken again for the rest of its time. */
  returnTicket(ticket: TakenTicket): Promise<void>;
}

/**
 * Every write is durable when its promise resolves. Unknown ids resolve to undefined. @throws
 * AppError
 */
export interface Directory extends StatisticsStore, ViewStore, TicketStore {
  /**
   * All of it in one transaction, but only where there is no account yet; else resolves to false.
   */
  seed(seed: DirectorySeed): Promise<boolean>;

  listAccounts(): Promise<Account[]>;
  getAccount(accountId: string): Promise<Account | undefined>;
  createAccount(account: Pick<Account, 'name' | 'eventsPerSecond'>): Promise<Account>;
  updateAccount(
    accountId: string,
    change: Partial<Pick<Account, 'name' | 'eventsPerSecond'>>,
  ): Promise<Account | undefined>;
  /**
   * Refused with `conflict` while it has streams or receivers. Tokens of this account alone are
   * deleted with it; an operator token stays for the control API and opens no account.
   */
  deleteAccount(accountId: string): Promise<boolean>;

  listStreams(accountId: string): Promise<Stream[]>;
  /** Of all accounts, for retention. */
  listAllStreams(): Promise<Stream[]>;
  getStream(streamId: string): Promise<Stream | undefined>;
  createStream(stream: Pick<Stream, 'accountId' | 'name' | 'retentionDays'>): Promise<Stream>;
  /** `dataDeletedUntil` only grows: whoever deletes at the same moment deletes the more. */
  updateStream(
    streamId: string,
    change: Partial<Pick<Stream, 'name' | 'retentionDays' | 'dataDeletedUntil'>>,
  ): Promise<Stream | undefined>;
  /** Refused with `conflict` while receivers feed it. */
  deleteStream(streamId: string): Promise<boolean>;

  listReceivers(accountId: string): Promise<Receiver[]>;
  getReceiver(receiverId: string): Promise<Receiver | undefined>;
  createReceiver(receiver: Omit<Receiver, 'receiverId' | 'createdAt'>): Promise<Receiver>;
  updateReceiver(receiverId: string, change: ReceiverChange): Promise<Receiver | undefined>;
  /** Revokes its tokens with it. */
  deleteReceiver(receiverId: string): Promise<boolean>;

  listTokens(accountId: string): Promise<Token[]>;
  /** Operator tokens that no account lists: over all accounts, or of deleted ones alone. */
  listUnboundTokens(): Promise<Token[]>;
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
