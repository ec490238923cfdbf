/**
 * The directory of accounts, streams, receivers and tokens. Admission asks `Grants`, the control
 * API uses `Directory`.
 */
import type {
  Account,
  Receiver,
  ReceiverGrant,
  ReceiverLimits,
  Stream,
  Token,
  TokenGrant,
  View,
} from '../model/account.ts';
import type {
  Deliveries,
  GroupState,
  NewNotifier,
  Notifier,
  RuleGroup,
  StoredRuleGroup,
} from '../model/rules.ts';
import type {
  MinuteSpan,
  ReceiverHistory,
  StatisticsAddition,
} from '../model/receiver-statistics.ts';

/** Cached for up to 5 s. @throws AppError `unavailable` while the directory does not answer */
export interface Grants {
  /** @param digest lower-case hex SHA-256 of the whole secret. */
  token(digest: string): Promise<TokenGrant | undefined>;
  receiver(receiverId: string): Promise<ReceiverGrant | undefined>;
  /** The account's streams, for reads. */
  streams(accountId: string): Promise<readonly Stream[]>;
  /** Records a use of the token now; written later, at most once a minute. */
  touch(tokenId: string): void;
}

export interface NewToken
  extends Omit<Token, 'tokenId' | 'revokedAt' | 'lastUsedAt' | 'createdAt'> {
  /** Lower-case hex SHA-256 of the secret; the secret itself never reaches the directory. */
  readonly digest: string;
}

/** The uncached look-ups of `Grants`. @throws AppError `unavailable` */
export interface GrantSource {
  /** A token without accounts grants nothing; one of a deleted receiver is revoked. */
  findToken(digest: string): Promise<TokenGrant | undefined>;
  findReceiver(receiverId: string): Promise<ReceiverGrant | undefined>;
  listStreams(accountId: string): Promise<Stream[]>;
  /**
   * Keeps the latest use of each token.
   * @param usedAtMs token id to the Unix ms of its last use; unknown ids are skipped.
   */
  noteTokensUsed(usedAtMs: ReadonlyMap<string, number>): Promise<void>;
}

/** Created at the first start. Ids are chosen before, so that it can be repeated after a crash. */
export interface DirectorySeed {
  readonly account: Pick<Account, 'accountId' | 'name'>;
  readonly stream: Pick<Stream, 'streamId' | 'name' | 'retentionDays'>;
  readonly receivers: readonly Pick<Receiver, 'receiverId' | 'name' | 'kind'>[];
  /** Bound to the seed's account; ingest tokens to one of its receivers. */
  readonly tokens: readonly Omit<NewToken, 'accountIds' | 'allAccounts' | 'expiresAt'>[];
}

/** Absent fields and limits keep their value. */
export interface ReceiverChange
  extends Partial<Pick<Receiver, 'name' | 'active' | 'allowedCidrs' | 'streamId' | 'transform'>> {
  readonly limits?: Partial<ReceiverLimits>;
}

/** Statistics of receivers, deleted with the receiver. @throws AppError `unavailable` */
export interface StatisticsStore {
  /**
   * Adds to the stored counts in one transaction, so that gateways can write concurrently. Skips
   * unknown receivers. Keys of minutes and reasons must be unique.
   * @returns the known receivers.
   */
  addStatistics(addition: StatisticsAddition): Promise<ReadonlySet<string>>;
  /** Empty for an unknown receiver. */
  findStatistics(receiverId: string, span: MinuteSpan): Promise<ReceiverHistory>;
  /** Deletes counts and samples of earlier minutes. */
  pruneStatistics(beforeMinute: number): Promise<void>;
}

/** Saved views, deleted with the account. @throws AppError `unavailable` */
export interface ViewStore {
  /** Ordered by name. */
  listViews(accountId: string): Promise<View[]>;
  getView(viewId: string): Promise<View | undefined>;
  /**
   * @param maxViews of one account.
   * @throws AppError `conflict` when the name is in use or the maximum is reached; `not_found`
   */
  createView(view: Pick<View, 'accountId' | 'name' | 'query'>, maxViews: number): Promise<View>;
  /** @throws AppError `conflict` when the name is in use */
  updateView(
    viewId: string,
    change: Partial<Pick<View, 'name' | 'query'>>,
  ): Promise<View | undefined>;
  deleteView(viewId: string): Promise<boolean>;
}

/** An export requested with a token; the ticket authorizes one download without the token. */
export interface NewTicket {
  /** Lower-case hex SHA-256 of the ticket; the ticket itself never reaches the directory. */
  readonly digest: string;
  readonly accountId: string;
  /** Digest of the token that requested the export. */
  readonly tokenDigest: string;
  /** URL query of the requested export. */
  readonly query: string;
}

export interface TakenTicket extends NewTicket {
  /** Unix ms by the directory's clock. */
  readonly expiresAtMs: number;
}

/**
 * Tickets of exports, which any node can redeem. They expire by the directory's clock, the same for
 * all nodes. @throws AppError `unavailable`
 */
export interface TicketStore {
  /**
   * @param limits `maxTickets` of one account; concurrent requests may exceed it.
   * @returns the expiry in Unix ms; undefined when the maximum is reached
   */
  keepTicket(
    ticket: NewTicket,
    limits: { readonly ttlMs: number; readonly maxTickets: number },
  ): Promise<number | undefined>;
  /** Removes the ticket; undefined when it is unknown, used or expired. */
  takeTicket(digest: string): Promise<TakenTicket | undefined>;
  /** Makes the ticket valid again until its expiry. */
  returnTicket(ticket: TakenTicket): Promise<void>;
}

/** A signed-in browser, which acts with a token. */
export interface Session {
  /** Lower-case hex SHA-256 of the session's id; the id itself never reaches the directory. */
  readonly digest: string;
  readonly tokenDigest: string;
  /** Sessions with the same owner can be ended together. */
  readonly owner: string;
}

export interface SessionLimits {
  /** Since the sign-in. */
  readonly maxMs: number;
  /** Since the last use. */
  readonly idleMs: number;
  /** Of one owner; a further one replaces the oldest. */
  readonly maxSessions: number;
}

/**
 * Sessions of the explorer. They expire by the directory's clock, the same for all nodes.
 * @throws AppError `unavailable`
 */
export interface SessionStore {
  /** @returns the sessions that have ended: expired or replaced. */
  createSession(session: Session, limits: SessionLimits): Promise<Session[]>;
  /** Undefined when it is unknown or expired. Records a use, at most once a minute. */
  useSession(digest: string, limits: Pick<SessionLimits, 'idleMs'>): Promise<Session | undefined>;
  /** @returns the ended sessions. */
  endSession(digest: string): Promise<Session[]>;
  /** @returns the ended sessions. */
  endSessionsOf(owner: string): Promise<Session[]>;
  /** Replaces the earlier link of the token. */
  keepSignInLink(link: SignInLink, ttlMs: number): Promise<void>;
  /** Removes the link; undefined when it is unknown, used, replaced or expired. */
  takeSignInLink(digest: string): Promise<SignInLink | undefined>;
}

/** Signs a browser in once, with a token that it does not get. */
export interface SignInLink {
  /** Lower-case hex SHA-256 of the link's code. */
  readonly digest: string;
  readonly tokenDigest: string;
}

export interface RuleGroupKey {
  readonly streamId: string;
  readonly name: string;
}

/** Rule groups and their state, deleted with the stream. @throws AppError `unavailable` */
export interface RuleStore {
  /** Ordered by stream and name. @param accountId undefined = of all accounts */
  listRuleGroups(accountId: string | undefined): Promise<StoredRuleGroup[]>;
  /**
   * Adds groups to the stream, and replaces those with the same names; these keep their state.
   * @throws AppError `not_found`; `conflict` beyond `maxGroups` of the stream;
   * `precondition_failed` if the stream does not have the `expected` groups, by name
   */
  putRuleGroups(
    streamId: string,
    groups: readonly RuleGroup[],
    limits: { readonly maxGroups: number; readonly expected?: readonly RuleGroup[] | undefined },
  ): Promise<void>;
  /** @throws AppError `precondition_failed` if it is another than the `expected` one */
  deleteRuleGroup(key: RuleGroupKey, expected?: RuleGroup): Promise<boolean>;
  /** @returns false, without a change, where the lease has a later holder or the group is gone. */
  saveRuleState(key: RuleGroupKey, state: GroupState, lease: Lease): Promise<boolean>;
  /**
   * Takes or prolongs a lease, by the directory's clock.
   * @returns undefined while another holder has it
   */
  holdLease(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  releaseLease(lease: Lease): Promise<void>;
}

/** Destinations of alerts, deleted with the account. @throws AppError `unavailable` */
export interface NotifierStore {
  /** Ordered by name. */
  listNotifiers(accountId: string): Promise<Notifier[]>;
  /** @throws AppError `conflict` beyond `maxNotifiers` of the account; `not_found` */
  createNotifier(notifier: NewNotifier, maxNotifiers: number): Promise<Notifier>;
  /** Does nothing for an unknown id. */
  noteDeliveries(notifierId: string, deliveries: Deliveries): Promise<void>;
  deleteNotifier(accountId: string, notifierId: string): Promise<boolean>;
}

export interface Lease {
  readonly name: string;
  /** Higher than that of every earlier holder. */
  readonly epoch: number;
}

/**
 * A write is durable when its promise resolves. Unknown ids resolve to undefined.
 * @throws AppError
 */
export interface Directory
  extends StatisticsStore,
    ViewStore,
    TicketStore,
    SessionStore,
    RuleStore,
    NotifierStore {
  /** One transaction. Resolves to false, without a change, when an account or token exists. */
  seed(seed: DirectorySeed): Promise<boolean>;

  listAccounts(): Promise<Account[]>;
  getAccount(accountId: string): Promise<Account | undefined>;
  createAccount(account: Pick<Account, 'name' | 'eventsPerSecond'>): Promise<Account>;
  updateAccount(
    accountId: string,
    change: Partial<Pick<Account, 'name' | 'eventsPerSecond'>>,
  ): Promise<Account | undefined>;
  /**
   * Also deletes tokens of only this account; an operator token is kept, without accounts.
   * @throws AppError `conflict` while it has streams or receivers
   */
  deleteAccount(accountId: string): Promise<boolean>;

  listStreams(accountId: string): Promise<Stream[]>;
  /** Streams of all accounts, for retention. */
  listAllStreams(): Promise<Stream[]>;
  getStream(streamId: string): Promise<Stream | undefined>;
  createStream(
    stream: Pick<Stream, 'accountId' | 'name' | 'retentionDays'> &
      Partial<Pick<Stream, 'downsampling'>>,
  ): Promise<Stream>;
  /** `dataDeletedUntil` never decreases, also with concurrent deletions. */
  updateStream(
    streamId: string,
    change: Partial<Pick<Stream, 'name' | 'retentionDays' | 'downsampling' | 'dataDeletedUntil'>>,
  ): Promise<Stream | undefined>;
  /** @throws AppError `conflict` while receivers feed it */
  deleteStream(streamId: string): Promise<boolean>;
  /** Of all accounts, in the last year: their rows may still reach the store. */
  listDeletedStreams(): Promise<Pick<Stream, 'streamId' | 'accountId'>[]>;

  listReceivers(accountId: string): Promise<Receiver[]>;
  getReceiver(receiverId: string): Promise<Receiver | undefined>;
  createReceiver(receiver: Omit<Receiver, 'receiverId' | 'createdAt'>): Promise<Receiver>;
  updateReceiver(receiverId: string, change: ReceiverChange): Promise<Receiver | undefined>;
  /** Also revokes its tokens. */
  deleteReceiver(receiverId: string): Promise<boolean>;

  listTokens(accountId: string): Promise<Token[]>;
  /** Operator tokens of all accounts, or whose accounts are all deleted. */
  listUnboundTokens(): Promise<Token[]>;
  getToken(tokenId: string): Promise<Token | undefined>;
  createToken(token: NewToken): Promise<Token>;
  updateToken(
    tokenId: string,
    change: Partial<Pick<Token, 'name' | 'expiresAt'>>,
  ): Promise<Token | undefined>;
  /** Replaces the digest, so that the old secret becomes invalid. */
  rotateToken(tokenId: string, digest: string): Promise<Token | undefined>;
  revokeToken(tokenId: string): Promise<Token | undefined>;
  deleteToken(tokenId: string): Promise<boolean>;

  close(): Promise<void>;
}
