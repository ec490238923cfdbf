/** Totals of a long crash test, kept in a file so that it can resume. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { replaceTextFile } from '../../src/files/atomic-file.ts';
import type { CrashReport } from './run.ts';
import type { Verdict } from './verdict.ts';

type Counts = Pick<Verdict, 'acknowledged' | 'unanswered' | 'lost' | 'doubled' | 'invented'>;

/** One data directory and its kills. */
export interface Slice extends Counts {
  /** UTC date. */
  readonly date: string;
  readonly commit: string;
  readonly set: string;
  readonly seed: number;
  readonly node: string;
  readonly kills: number;
  readonly byTarget: Readonly<Record<string, number>>;
  /** Why it ended early; absent otherwise. */
  readonly failure?: string;
}

export interface Sums extends Counts {
  readonly slices: number;
  readonly kills: number;
  readonly failures: number;
}

export function readSlices(file: string | undefined): Slice[] {
  if (file === undefined || !existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as { slices: Slice[] }).slices;
}

export function writeSlices(file: string, slices: readonly Slice[]): void {
  const lines = slices.map((slice) => `  ${JSON.stringify(slice)}`).join(',\n');
  replaceTextFile(file, `{ "slices": [\n${lines}\n] }\n`);
}

export function toSlice(set: string, seed: number, report: CrashReport): Slice {
  const { acknowledged, unanswered, lost, doubled, invented, kills } = report;
  return {
    ...beginSlice(set, seed),
    kills: Object.values(kills).reduce((sum, count) => sum + count, 0),
    byTarget: kills,
    acknowledged,
    unanswered,
    lost,
    doubled,
    invented,
  };
}

/** A slice without a verdict. */
export function toFailedSlice(set: string, seed: number, error: unknown): Slice {
  const sums = { acknowledged: 0, unanswered: 0, lost: 0, doubled: 0, invented: 0 };
  const none = { kills: 0, byTarget: {}, ...sums };
  return { ...beginSlice(set, seed), ...none, failure: String(error).slice(0, 500) };
}

function beginSlice(set: string, seed: number) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  const date = new Date().toISOString().slice(0, 10);
  return { date, commit: commit.trim(), node: process.version, set, seed };
}

export function addUp(slices: readonly Slice[]): Sums {
  const sum = (value: (slice: Slice) => number) =>
    slices.reduce((total, slice) => total + value(slice), 0);
  return {
    slices: slices.length,
    kills: sum(({ kills }) => kills),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    unanswered: sum(({ unanswered }) => unanswered),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    invented: sum(({ invented }) => invented),
    failures: sum(({ failure }) => (failure === undefined ? 0 : 1)),
  };
}
