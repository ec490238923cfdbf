/** What the comparison needs of a system under test, and the questions it asks. */

/** Every condition must hold. */
export interface Filter {
  readonly service?: string;
  readonly severity?: string;
  readonly label?: { readonly key: string; readonly value: string };
  /** Whole words of the message. */
  readonly words?: readonly string[];
  readonly phrase?: string;
  /** Part of a word of the message: lower-case letters and digits. */
  readonly part?: string;
}

/** Unix ms, half-open. */
export interface TimeRange {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export type FieldName = 'service' | 'severity' | 'host';

export type Question = TimeRange & { readonly filter: Filter } & (
    | { readonly kind: 'list' }
    | { readonly kind: 'histogram'; readonly bySeverity: boolean }
    | { readonly kind: 'facets'; readonly fields: readonly FieldName[] }
  );

export const listLimit = 100;
export const histogramBuckets = 60;
export const facetValues = 10;

/** One way to put a question to a system; the fastest of equivalent forms is reported. */
export interface Form {
  /** As the system's users would write it. */
  readonly text: string;
  /** @returns logs listed, logs counted, or the sum of the counts of facet values */
  readonly ask: () => Promise<number>;
}

export interface InsertTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** @param lines one JSON object a line; may be overwritten */
  readonly toBody: (lines: Buffer) => Buffer;
}

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Flags besides ports, certificates and directories. */
  readonly flags: string;
  /** What an acknowledgement guarantees. */
  readonly acknowledgement: string;
  readonly dataDir: string;
  /** PEM of the certificate authority. */
  readonly ca: string;
  readonly insertTarget: InsertTarget;
  pids(): number[];
  /** Readable logs in the range. */
  count(range: TimeRange): Promise<number>;
  /** Resolves once no known work is left; merges may go on. */
  idle(): Promise<void>;
  /** @returns equivalent forms, at least one */
  formsOf(question: Question): readonly Form[];
  stop(): Promise<void>;
}
