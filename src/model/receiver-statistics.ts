/**
 * What is known of the requests that reached a receiver: counts by minute, why things were refused,
 * and a few samples of refusals. Plain values between the part that counts, the directory that
 * keeps them and the control API that shows them.
 */

export const minuteMs = 60_000;

/** Samples kept of a receiver; the oldest go first. */
export const maxReceiverSamples = 20;

/** Minutes are counted from 1970; a request belongs to the minute in which it ended. */
export interface MinuteCounts {
  readonly minute: number;
  /** All of them: those that were taken, repeated and refused. */
  readonly requests: number;
  /** Those that were refused as a whole. */
  readonly refused: number;
  /** Events that were kept, as quotas count them. */
  readonly accepted: number;
  /** Records that were rejected one by one, in requests that were taken. */
  readonly rejected: number;
  /** Of the bodies of requests that were taken, inflated. */
  readonly bytes: number;
}

/** Whether a whole request was refused, or a record of a request that was taken. */
export type RefusalKind = 'request' | 'record';

export interface ReasonCount {
  readonly kind: RefusalKind;
  /** An error code, or one of the decoders' fixed words; nothing of the sender's. */
  readonly reason: string;
  readonly count: number;
}

/** One refusal as its sender saw it. Neither a secret nor anything of a body is in it. */
export interface ReceiverSample {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly kind: RefusalKind;
  readonly reason: string;
  /** The HTTP status that stands for it. */
  readonly status: number;
  /** The sentence the sender got, cut and with what it quotes of the body left out. */
  readonly detail: string;
  /** Public handle; null where the token is unknown or another account's. */
  readonly tokenId: string | null;
  /** Of the socket; may be a proxy. */
  readonly peerAddress: string;
  readonly contentType: string | null;
  /** As declared, or as it was read; null = unknown. */
  readonly bodyBytes: number | null;
}

/** When something last came, ISO 8601 UTC; null = never. */
export interface ReceiverActivity {
  readonly lastSeenAt: string | null;
  readonly lastAcceptedAt: string | null;
}

/** Whole minutes, half-open. */
export interface MinuteSpan {
  readonly fromMinute: number;
  readonly untilMinute: number;
}

export interface ReceiverHistory extends ReceiverActivity {
  /** In order of time; a minute without requests may be absent. */
  readonly minutes: readonly MinuteCounts[];
  /** Of the span: those of kind request sum up to `refused`, those of records to `rejected`. */
  readonly reasons: readonly ReasonCount[];
  /** Newest first, whatever the span. */
  readonly samples: readonly ReceiverSample[];
}

type OfReceiver<Value> = Value & { readonly receiverId: string };

/** What came since it was last written; counts are to be added to those that are there. */
export interface StatisticsAddition {
  readonly minutes: readonly OfReceiver<MinuteCounts>[];
  readonly reasons: readonly OfReceiver<ReasonCount & { readonly minute: number }>[];
  /** Oldest first. */
  readonly samples: readonly OfReceiver<ReceiverSample>[];
  readonly activities: readonly OfReceiver<ReceiverActivity>[];
}
