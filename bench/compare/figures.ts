/**
 * Figures of two builds over several rounds, and whether one got worse by more than noise. They are
 * read from the Markdown that the benchmark prints, so that any revision can be the base. Pure.
 */

export interface Figure {
  readonly value: number;
  readonly better: 'more' | 'less';
  /** False for one that does not depend on the speed of the machine. */
  readonly isTimed: boolean;
}

/** By name: the row and the column of its table. */
export type Figures = ReadonlyMap<string, Figure>;

interface Column {
  readonly head: RegExp;
  readonly better: Figure['better'];
  /** Names of the values in a cell. Further values are not compared, nor cells with fewer. */
  readonly values: readonly string[];
  /** Default true. */
  readonly isTimed?: boolean;
}

/**
 * Not compared, since a quick run has too few samples for them: percentiles above the median, and
 * rows/s stored, because a phase contains two or three inserts.
 */
const columns: readonly Column[] = [
  { head: /^events\/s/, better: 'more', values: ['events/s'] },
  { head: /^ack p50/, better: 'less', values: ['ack p50'] },
  { head: /^CPU µs per event:/, better: 'less', values: ['CPU of gateway', 'CPU of engine'] },
  { head: /^CPU µs per event$/, better: 'less', values: ['CPU'] },
  { head: /^bytes per sample/, better: 'less', values: ['bytes per sample'], isTimed: false },
  {
    head: /^merged into one part$/,
    better: 'less',
    values: ['bytes per sample, merged'],
    isTimed: false,
  },
  { head: /^value$/, better: 'less', values: [''] },
  { head: /^p50$/, better: 'less', values: ['p50'] },
];

/** Reads the tables that `bench/report.ts` writes. */
export function toFigures(markdown: string): Figures {
  const figures = new Map<string, Figure>();
  let heads: readonly string[] = [];
  for (const line of markdown.split('\n')) {
    const cells = toCells(line);
    if (heads.length > 0) {
      for (const [name, figure] of figuresOfRow(heads, cells)) figures.set(name, figure);
    }
    if (heads.length === 0 || cells.length === 0) heads = cells;
  }
  return figures;
}

function figuresOfRow(heads: readonly string[], cells: readonly string[]): [string, Figure][] {
  return heads.flatMap((head, at) => {
    const column = columns.find((one) => one.head.test(head));
    const numbers = toNumbers(cells[at] ?? '');
    if (column === undefined || numbers.length < column.values.length) return [];
    const { better, isTimed = true } = column;
    return column.values.map((name, index): [string, Figure] => {
      const full = [cells[0] ?? '', name].filter((part) => part !== '').join(': ');
      return [full, { value: numbers[index] ?? 0, better, isTimed }];
    });
  });
}

/** @returns none unless the line is of a table */
function toCells(line: string): string[] {
  if (!line.startsWith('| ')) return [];
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

/** Numbers of a cell such as `8.13 ms / 84 ms`, without thousands separators; none of `---`. */
function toNumbers(cell: string): number[] {
  return [...cell.replaceAll(',', '').matchAll(/(?<![\w.])\d+(?:\.\d+)?/g)].map(Number);
}

export interface Comparison {
  readonly name: string;
  readonly better: Figure['better'];
  /** Geometric means over the rounds. */
  readonly base: number;
  readonly current: number;
  /** Current divided by base. */
  readonly ratio: number;
  /** Largest divided by smallest value of a build's rounds, minus 1; the larger of both builds. */
  readonly spread: number;
  /** How far above 1 the ratio of two equal builds may be by chance. */
  readonly noise: number;
  readonly verdict: 'better' | 'same' | 'worse';
}

/**
 * Runs of a few seconds differ by 10 to 20 % when only the timing of merges and of the page cache
 * differs, which a whole round shares, so that two rounds may agree by chance.
 */
export const noiseFloor = 0.2;
/** Mean range of n normal values in standard deviations: Shewhart's d2, from n = 2. */
const d2 = [1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.97, 3.078];
const standardErrors = 3;
/**
 * A few rounds underestimate the deviation of some figures, so a timed figure has at least that of
 * this share of all. In simulations of two rounds of 60 equal figures with much noise, one is then
 * worse in 10 % of the runs; judged by its own rounds alone, in 90 %.
 */
const pooledShare = 0.75;

interface Sample {
  readonly name: string;
  readonly figure: Figure;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Standard deviation of the logarithms within a build. */
  readonly deviation: number;
}

/** Compares figures that every round of both builds has. @param base one entry per round */
export function compareFigures(
  base: readonly Figures[],
  current: readonly Figures[],
): Comparison[] {
  const samples: Sample[] = [];
  for (const [name, figure] of base[0] ?? []) {
    const before = valuesOf(base, name);
    const after = valuesOf(current, name);
    if (before === undefined || after === undefined) continue;
    const range = (logRange(before) + logRange(after)) / 2;
    const deviation = range / (d2[Math.min(before.length, d2.length + 1) - 2] ?? 1);
    samples.push({ name, figure, before, after, deviation });
  }
  const deviations = samples
    .filter(({ figure }) => figure.isTimed)
    .map(({ deviation }) => deviation)
    .sort((a, b) => a - b);
  const pooled = deviations[Math.floor(deviations.length * pooledShare)] ?? 0;
  return samples.map((sample) => toComparison(sample, sample.figure.isTimed ? pooled : 0));
}

/** @returns undefined if a round lacks the figure or has none above 0 */
function valuesOf(rounds: readonly Figures[], name: string): number[] | undefined {
  const values = rounds.map((figures) => figures.get(name)?.value ?? 0);
  return values.every((value) => value > 0) ? values : undefined;
}

function toComparison(sample: Sample, leastDeviation: number): Comparison {
  const { name, before, after } = sample;
  const { better } = sample.figure;
  const base = geometricMean(before);
  const current = geometricMean(after);
  const ratio = current / base;
  // The ratio of two means has the standard error of a difference of logarithms.
  const standardError = Math.max(sample.deviation, leastDeviation) * Math.sqrt(2 / before.length);
  const noise = Math.max(noiseFloor, Math.exp(standardErrors * standardError) - 1);
  const worsening = better === 'less' ? ratio : 1 / ratio;
  const verdict = worsening > 1 + noise ? 'worse' : 1 / worsening > 1 + noise ? 'better' : 'same';
  const spread = Math.exp(Math.max(logRange(before), logRange(after))) - 1;
  return { name, better, base, current, ratio, spread, noise, verdict };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function logRange(values: readonly number[]): number {
  return Math.log(Math.max(...values) / Math.min(...values));
}

export function toMarkdown(comparisons: readonly Comparison[]): string {
  const percent = (value: number) => `${(value * 100).toFixed(0)} %`;
  const rows = comparisons.map((one) => [
    one.name,
    one.better,
    one.base.toPrecision(4),
    one.current.toPrecision(4),
    one.ratio.toFixed(2),
    percent(one.spread),
    percent(one.noise),
    one.verdict === 'worse' ? '**worse**' : one.verdict,
  ]);
  const head = ['figure', 'better', 'base', 'current', 'ratio', 'spread', 'noise', 'verdict'];
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
