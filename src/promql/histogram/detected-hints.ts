/**
 * Counter resets of native histograms, detected where only count and sum are asked for. Prometheus
 * then reads histograms without buckets, hence looks for resets as it reads, and its warnings about
 * conflicting resets depend on it.
 */
import { childrenOf, type Expr, type VectorSelector } from '../parser/ast.ts';
import { type SampleSeries, staleHistogram } from '../source.ts';
import { type Histogram, withHint } from './histogram.ts';
import { detectsReset } from './histogram-resets.ts';

const ofCounts = new Set(['histogram_count', 'histogram_sum', 'histogram_avg']);
const ofBuckets = new Set(['histogram_quantile', 'histogram_quantiles', 'histogram_fraction']);

const known = new WeakMap<Expr, ReadonlySet<VectorSelector>>();

/** Selectors of which an expression uses counts and sums only. */
export function selectorsOfCounts(expr: Expr): ReadonlySet<VectorSelector> {
  let found = known.get(expr);
  if (found === undefined) {
    found = findSelectorsOfCounts(expr);
    known.set(expr, found);
  }
  return found;
}

function findSelectorsOfCounts(expr: Expr): ReadonlySet<VectorSelector> {
  const found = new Set<VectorSelector>();
  const visit = (node: Expr, isCounts: boolean): void => {
    if (node.kind === 'selector' && isCounts) found.add(node);
    if (needsBuckets(node)) return;
    const asks = isCounts || (node.kind === 'call' && ofCounts.has(node.name));
    for (const child of childrenOf(node)) visit(child, asks);
  };
  visit(expr, false);
  return found;
}

function needsBuckets(node: Expr): boolean {
  if (node.kind === 'binary') return node.op === '</' || node.op === '>/';
  return node.kind === 'subquery' || (node.kind === 'call' && ofBuckets.has(node.name));
}

export function withDetectedHints(series: SampleSeries): SampleSeries {
  if (series.histograms.length < 2) return series;
  let previous: Histogram | undefined;
  const histograms = series.histograms.map((histogram) => {
    if (histogram === staleHistogram) return histogram;
    const before = previous;
    previous = histogram;
    if (histogram.hint !== 'unknown' || before === undefined) return histogram;
    return withHint(histogram, detectsReset(histogram, before) ? 'reset' : 'not_reset');
  });
  return { ...series, histograms };
}
