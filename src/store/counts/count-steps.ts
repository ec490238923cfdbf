/** By which step of time the logs of a part are counted. */
import { isLabelField } from '../../model/log-fields.ts';
import { type CountField, type CountKey, type CountStep, countSteps } from '../sql/part-counts.ts';

type MinLogs = Readonly<Record<CountStep, number>>;

/** Which parts are worth counting, and when. */
export interface CountOptions {
  /** A table without a part of this size is read as fast without counts. */
  readonly largePartRows: number;
  /** Younger parts are likely to be merged soon, small ones and those of inserts in particular. */
  readonly minAgeSeconds: { readonly merged: number; readonly other: number };
  /** By the step of the counts: fewer logs for each count save too little, */
  readonly minLogsPerCount: MinLogs;
  /** The same of counts by a label, of which there are several, */
  readonly minLogsPerLabelCount: MinLogs;
  /**
   * except in parts with no more counts than this, by 10 s or longer: the statement itself takes
   * longer.
   */
  readonly fewCounts: number;
  /** Labels are counted unasked while fewer rows arrive. */
  readonly quietRowsPerSecond: number;
  /** Between two looks for parts to count, by reads that no counts answer yet. */
  readonly lookEveryMs: number;
  /** Between two looks for new parts after a read, until an hour after it. */
  readonly followEveryMs: number;
  /** Counts in memory, of 8 bytes each. */
  readonly maxCountsKept: number;
  /** Rows beside them in memory, in units of 8 bytes. */
  readonly maxRowsKept: number;
  /** Of the counts on disk; undefined = none. */
  readonly folder: string | undefined;
}

export const countDefaults: CountOptions = {
  largePartRows: 50_000,
  minAgeSeconds: { merged: 5, other: 60 },
  minLogsPerCount: { 100: 60, 1_000: 60, 10_000: 20, 60_000: 4, 3_600_000: 4, 86_400_000: 2 },
  minLogsPerLabelCount: {
    100: 60,
    1_000: 60,
    10_000: 60,
    60_000: 12,
    3_600_000: 12,
    86_400_000: 12,
  },
  fewCounts: 20_000,
  quietRowsPerSecond: 20_000,
  lookEveryMs: 1_000,
  followEveryMs: 15_000,
  maxCountsKept: 8_000_000,
  maxRowsKept: 2_000_000,
  folder: undefined,
};

interface Bounds {
  readonly step: CountStep;
  readonly options: CountOptions;
}

export function maxCountsOf(
  rows: number,
  fields: readonly CountField[],
  { step, options }: Bounds,
): number {
  const { minLogsPerCount, minLogsPerLabelCount, fewCounts, maxCountsKept } = options;
  const minLogs = (fields.some(isLabelField) ? minLogsPerLabelCount : minLogsPerCount)[step];
  const most = Math.max(step < 10_000 ? 0 : fewCounts, Math.ceil(rows / minLogs));
  return Math.min(most, maxCountsKept);
}

/** What decides, for the same account and fields, whether a step leaves few enough counts. */
export interface Countable {
  readonly rows: number;
  /** Of event time. */
  readonly logsPerMs: number;
}

interface Trial extends Countable {
  readonly key: CountKey;
  readonly step: CountStep;
  readonly maxCounts: number;
}

/** A step that failed is tried again later: the values of an account change. */
const restMs = 600_000;

/**
 * Steps that left too many counts in a part like this are not tried with each of the others, nor
 * for more fields, which leave as many at least.
 */
export function createStepTrials(options: CountOptions) {
  let failures: readonly (Trial & { readonly untilMs: number })[] = [];

  const hasFailed = (trial: Trial) =>
    failures.some((last) => performance.now() < last.untilMs && isAlsoTooMuch(trial, last));

  return {
    /** The shortest first. */
    list(key: CountKey, part: Countable): Trial[] {
      return countSteps
        .map((step): Trial => {
          const maxCounts = maxCountsOf(part.rows, key.fields, { step, options });
          return { ...part, key, step, maxCounts };
        })
        .filter((trial) => !hasFailed(trial));
    },
    noteFailure(trial: Trial): void {
      const nowMs = performance.now();
      const others = failures.filter(
        (last) => last.untilMs > nowMs && !(repeats(last, trial) && repeats(trial, last)),
      );
      failures = [...others, { ...trial, untilMs: nowMs + restMs }];
    },
  };
}

/** Whether the step is the same, and the fields are those of another and maybe more. */
function repeats({ key, step }: Trial, other: Trial): boolean {
  return (
    step === other.step &&
    key.accountId === other.key.accountId &&
    other.key.fields.every((field) => key.fields.includes(field))
  );
}

function isAlsoTooMuch(trial: Trial, failed: Trial): boolean {
  return (
    repeats(trial, failed) &&
    trial.rows <= 1.25 * failed.rows &&
    trial.logsPerMs <= 1.25 * failed.logsPerMs &&
    trial.maxCounts / trial.rows <= (1.25 * failed.maxCounts) / failed.rows
  );
}
