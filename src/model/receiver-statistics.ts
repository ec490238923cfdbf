/**
 * Statistics of receivers: counts per minute, reasons, and samples of refusals. Plain values shared
 * by ingest, directory and control API.
 */

export const minuteMs = 60_000;

/** Samples kept per receiver; the oldest are dropped. */
export const maxReceiverSamples = 20;

/** Minutes since 1970; a request counts in the minute in which it ended. */
export interface MinuteCounts {
  readonly minute: number;
  /** All requests: accepted, replayed and refused. */
  readonly requests: number;
  /** Requests refused as a whole. */
  readonly refused: number;
  /** Stored events, as quotas count them. */
  readonly accepted: number;
  /** Records rejected individually in accepted requests. */
  readonly rejected: number;
  /** Inflated bodies of accepted requests. */
  readonly bytes: number;
}

/** A refused request, or a rejected record of an accepted one. */
export type RefusalKind = 'request' | 'record';

/** `warning` = a record stored with a change. */
export type ReasonKind = RefusalKind | 'warning';

export interface ReasonCount {
  readonly kind: ReasonKind;
  /** An error code, or a fixed text of a decoder; no data of the sender. */
  readonly reason: string;
  readonly count: number;
}

/** One refusal as its sender saw it, without secrets and bodies. */
export interface ReceiverSample {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly kind: RefusalKind;
  readonly reason: string;
  /** The equivalent HTTP status. */
  readonly status: number;
  /** The message to the sender, truncated, with quotes of the body removed. */
  readonly detail: string;
  /** Public id; null when the token is unknown or of another account. */
  readonly tokenId: string | null;
  /** Peer address; may be a proxy. */
  readonly peerAddress: string;
  readonly contentType: string | null;
  /** Declared or actual size; null = unknown. */
  readonly bodyBytes: number | null;
}

/** ISO 8601 UTC; null = never. */
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
  /** Ascending; minutes without requests may be absent. */
  readonly minutes: readonly MinuteCounts[];
  /** Totals of the range. Kind request adds up to `refused`, kind record to `rejected`. */
  readonly reasons: readonly ReasonCount[];
  /** Newest first, regardless of the range. */
  readonly samples: readonly ReceiverSample[];
}

type OfReceiver<Value> = Value & { readonly receiverId: string };

/** Changes since the last write; counts are added to the stored ones. */
export interface StatisticsAddition {
  readonly minutes: readonly OfReceiver<MinuteCounts>[];
  readonly reasons: readonly OfReceiver<ReasonCount & { readonly minute: number }>[];
  /** Oldest first. */
  readonly samples: readonly OfReceiver<ReceiverSample>[];
  readonly activities: readonly OfReceiver<ReceiverActivity>[];
}
