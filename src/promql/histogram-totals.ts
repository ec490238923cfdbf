/** Sums and means of the native histograms of a group. */
import type { Evaluation } from './evaluation.ts';
import { type Aggregation, withoutParens } from './parser/ast.ts';
import { MixedSchemasError } from './histogram/histogram-sum.ts';
import type { Histogram } from './histogram/histogram.ts';
import { metricName } from './labels.ts';
import { type HistogramTotal, startTotal } from './functions/sums.ts';
import { type GridSeries, histogramAt } from './values.ts';

/**
 * Of a group with a histogram at this step. @param hasFloats whether it has floats there, too
 * @returns undefined, with a warning, where it has, or layouts of buckets that do not go together
 */
export async function totalOfHistograms(
  ev: Evaluation,
  {
    expr,
    members,
    step,
    hasFloats,
  }: {
    expr: Aggregation;
    members: readonly GridSeries[];
    step: number;
    hasFloats: boolean;
  },
): Promise<Histogram | undefined> {
  const { notes } = ev;
  const at = withoutParens(expr.expr);
  const hints = new Set<string>();
  let total: HistogramTotal | undefined;
  let isMixed = false;
  for (const member of members) {
    const histogram = histogramAt(member, step);
    if (histogram === undefined) continue;
    // Hundreds of buckets take as long as a thousand floats.
    if (ev.isTurnOver()) await ev.breathe();
    hints.add(histogram.hint);
    if (total === undefined) {
      total = startTotal(expr.op === 'avg' ? 'avg' : 'sum', histogram);
      continue;
    }
    try {
      if (!total.add(histogram)) continue;
      notes.info(at, 'mismatched custom buckets were reconciled during aggregation');
    } catch (error) {
      if (!(error instanceof MixedSchemasError)) throw error;
      const schemas = 'histograms with exponential and custom buckets schemas';
      const name = JSON.stringify(metricName(member.labels));
      notes.warn(at, `vector contains a mix of ${schemas} for metric name ${name}`);
      isMixed = true;
      break;
    }
  }
  if (hasFloats) {
    notes.warn(at, 'encountered a mix of histograms and floats for aggregation');
    return undefined;
  }
  if (isMixed) return undefined;
  if (hints.has('reset') && hints.has('not_reset')) {
    notes.warn(at, 'conflicting counter resets during histogram aggregation');
  }
  return total?.result();
}
