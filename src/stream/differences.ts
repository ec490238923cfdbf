/** Ranks values by how much they tell two sets of logs apart. Pure. */
import type { ComparedValue, ComparisonResult, SideCounts } from '../model/sample-plan.ts';

const maxPerField = 3;
/** Of the corrected p. */
const maxP = 0.05;

export interface Difference extends ComparedValue {
  /** Part of the samples, 0 to 1. */
  readonly shares: SideCounts;
  /** How much of the question which set a log is in the value answers, 0 to 1. */
  readonly effect: number;
  readonly g: number;
  /** Times the number of tests (Bonferroni), at most 1. */
  readonly p: number;
}

/** The values that differ by more than chance, at most three of each field. */
export function rankDifferences({ values, tested, sampled }: ComparisonResult): Difference[] {
  const [selection, baseline] = sampled;
  if (selection === 0 || baseline === 0) return [];
  const most = 2 * entropy(sampled);
  const ranked = values
    .map((one): Difference => {
      const { counts } = one;
      const g = gStatistic(counts, sampled);
      return {
        ...one,
        shares: [counts[0] / selection, counts[1] / baseline],
        effect: Math.min(1, g / most),
        g,
        p: Math.min(1, chiSquareTail(g) * tested),
      };
    })
    .filter(({ p }) => p < maxP)
    .sort((a, b) => rank(b) - rank(a) || excess(b) - excess(a) || compareTexts(a, b));
  const listed = new Map<string, number>();
  return ranked.filter(({ field }) => {
    const count = (listed.get(field) ?? 0) + 1;
    listed.set(field, count);
    return count <= maxPerField;
  });
}

/** Effects that differ by rounding are equal. */
function rank({ effect }: Difference): number {
  return Math.round(effect * 1e9);
}

function excess({ shares }: Difference): number {
  return shares[0] - shares[1];
}

function compareTexts(a: ComparedValue, b: ComparedValue): number {
  const [one, other] = [`${a.field}\n${a.value}`, `${b.field}\n${b.value}`];
  return one < other ? -1 : Number(one > other);
}

/**
 * G of the table of logs with and without a value in two sets: twice the sum of
 * observed * ln(observed / expected).
 */
export function gStatistic([a, b]: SideCounts, [allA, allB]: SideCounts): number {
  const all = allA + allB;
  const withValue = a + b;
  const without = all - withValue;
  const term = (observed: number, row: number, column: number) =>
    observed === 0 ? 0 : observed * Math.log((observed * all) / (row * column));
  const sum =
    term(a, withValue, allA) +
    term(b, withValue, allB) +
    term(allA - a, without, allA) +
    term(allB - b, without, allB);
  return Math.max(0, 2 * sum);
}

/** Entropy of the two sets in nats, times the number of logs: the largest possible G / 2. */
function entropy([a, b]: SideCounts): number {
  const all = a + b;
  return a * Math.log(all / a) + b * Math.log(all / b);
}

const erfcTerms = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
];

/**
 * Chance of a value above x under chi-square with one degree of freedom: erfc(sqrt(x / 2)), by the
 * Chebyshev fit of Numerical Recipes, whose relative error is below 1.2e-7.
 */
export function chiSquareTail(x: number): number {
  const z = Math.sqrt(x / 2);
  const t = 1 / (1 + z / 2);
  const polynomial = erfcTerms.reduceRight((sum, term) => sum * t + term, 0);
  return Math.min(1, t * Math.exp(-z * z + polynomial));
}
