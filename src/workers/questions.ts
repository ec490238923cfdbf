/**
 * Everything that the main process and its workers ask or tell each other. Bytes stand in it as
 * base64; a batch's payload goes along as the tail of its question.
 */
import type { Bucket } from '../admission/port.ts';
import type { ReceiverGrant, TokenGrant } from '../directory/port.ts';
import type { Stream } from '../model/account.ts';
import type { BatchOwner, Layout } from '../model/batch.ts';
import type {
  MinuteSpan,
  ReceiverHistory,
  StatisticsAddition,
} from '../model/receiver-statistics.ts';

/** What a worker must know before it can open. */
export interface Beginning {
  /** The configuration, of which this folder knows nothing. */
  readonly settings: unknown;
  readonly number: number;
  /** What senders call the ingest port. */
  readonly ingestUrl: string;
  /** As in `BatchAsk`. */
  readonly forgotten: number;
}

export interface BatchAsk {
  readonly layout: Layout;
  readonly rows: number;
  readonly owner: BatchOwner;
  readonly record: RecordText | null;
  /** How often the worker had heard that labels of series are gone, when it made the batch. */
  readonly forgotten: number;
}

/** An `IdempotencyRecord`. */
export interface RecordText {
  readonly key: string;
  readonly bodyDigest: string;
  readonly answer: string;
}

export interface RememberedText {
  readonly bodyDigest: string;
  readonly answer: string;
}

/** A `TokenGrant`; a set is none of JSON's. */
export interface TokenText extends Omit<TokenGrant, 'scopes'> {
  readonly scopes: readonly TokenScope[];
}
type TokenScope = TokenGrant['scopes'] extends ReadonlySet<infer Scope> ? Scope : never;

interface QuotaAsk {
  readonly buckets: readonly Bucket[];
  readonly events: number;
}

interface QuotaAnswer {
  readonly isTaken: boolean;
  /** After it, in the order of the buckets. */
  readonly levels: readonly number[];
}

/** A registry's metrics, as prom-client's `getMetricsAsJSON` gives them. */
export type MetricsText = readonly object[];

/** What the main process answers. */
export type MainQuestions = {
  readonly begin: { ask: null; answer: Beginning };
  /** Told once: it takes connections from now on. */
  readonly ready: { ask: null; answer: void };
  /** Told: why it could not open. */
  readonly failed: { ask: string; answer: void };
  /** Told: these connections that it was handed have ended. */
  readonly ended: { ask: readonly number[]; answer: void };
  /** Told: this connection is cut off for what came over it. */
  readonly abused: { ask: number; answer: void };
  /** With the payload as tail. @returns what an earlier request with its key was answered. */
  readonly append: { ask: BatchAsk; answer: RememberedText | null };
  /** @returns the first answer, or null where the asker is the first, to tell `settle` later. */
  readonly claim: {
    ask: { accountId: string; key: string; bodyDigest: string };
    answer: string | null;
  };
  readonly settle: { ask: string; answer: void };
  readonly take: { ask: QuotaAsk; answer: QuotaAnswer };
  readonly giveBack: { ask: QuotaAsk; answer: void };
  readonly findToken: { ask: string; answer: TokenText | null };
  readonly findReceiver: { ask: string; answer: ReceiverGrant | null };
  readonly listStreams: { ask: string; answer: Stream[] };
  readonly noteTokensUsed: { ask: readonly (readonly [string, number])[]; answer: void };
  readonly addStatistics: { ask: StatisticsAddition; answer: readonly string[] };
  readonly findStatistics: {
    ask: { readonly receiverId: string; readonly span: MinuteSpan };
    answer: ReceiverHistory;
  };
  readonly pruneStatistics: { ask: number; answer: void };
  /** Fixed words for what is not ready. */
  readonly missing: { ask: null; answer: readonly string[] };
};

/** What a worker answers. */
export type WorkerQuestions = {
  /** Answered at once: a worker that does not is hung. */
  readonly alive: { ask: null; answer: void };
  /** What is cached of the directory may have changed; answered when it is forgotten. */
  readonly invalidate: { ask: null; answer: void };
  /** Told: labels of series may be gone. @param ask how often that has happened. */
  readonly forgetSeries: { ask: number; answer: void };
  readonly flushStatistics: { ask: null; answer: void };
  readonly metrics: { ask: null; answer: MetricsText };
  /** Ends requests under way, hands on what is left, and answers when nothing is. */
  readonly stop: { ask: null; answer: void };
};

export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function toBytes(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
