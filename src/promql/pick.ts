/** `topk`, `bottomk`, `limitk` and `limit_ratio`: some series of each group, unchanged. */
import { createHash } from 'node:crypto';
import type { Aggregation } from './parser/ast.ts';
import { executionError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import { compareValues } from './functions/sorting.ts';
import { type Labels, labelsKey } from './labels.ts';
import { formatShort } from './parser/numbers.ts';
import { copyCell, type Grid, type GridSeries, kind, newSeries } from './values.ts';

/** Series that are aggregated into one. */
export interface SeriesGroup {
  readonly labels: Labels;
  readonly members: readonly GridSeries[];
}

export async function pick(
  ev: Evaluation,
  grid: Grid,
  {
    expr,
    groups,
    param,
  }: { expr: Aggregation; groups: readonly SeriesGroup[]; param: Float64Array },
): Promise<readonly GridSeries[]> {
  // As Prometheus, before the parameter is checked.
  if (expr.op !== 'limit_ratio' && param.every((count) => count < 1)) return [];
  checkParameter(expr, param);
  const picked = new Map<GridSeries, GridSeries>();
  for (const { members } of groups) {
    for (let step = 0; step < grid.steps; step++) {
      if (ev.isDue(members.length)) await ev.breathe();
      for (const member of chooseAt(ev, { expr, members, step, param: param[step]! })) {
        const { labels, dropName } = member;
        const result = picked.get(member) ?? newSeries(labels, grid.steps, dropName);
        picked.set(member, result);
        copyCell(member, step, result);
      }
    }
  }
  return [...picked.values()];
}

/** In the order of an instant query's answer. */
function chooseAt(
  ev: Evaluation,
  {
    expr,
    members,
    step,
    param,
  }: { expr: Aggregation; members: readonly GridSeries[]; step: number; param: number },
): readonly GridSeries[] {
  const count = Math.max(0, Math.trunc(param));
  const present = members.filter(({ kinds }) => kinds[step] !== kind.none);
  if (expr.op === 'limitk') return present.slice(0, count);
  if (expr.op === 'limit_ratio') {
    return present.filter(({ labels }) => isSampled(labels, param));
  }
  const floats = present.filter(({ kinds }) => kinds[step] === kind.float);
  if (param >= 1 && floats.length < present.length) {
    ev.notes.info(expr, `ignored histogram in ${expr.op} aggregation`);
  }
  const sign = expr.op === 'topk' ? -1 : 1;
  const order = (left: GridSeries, right: GridSeries) =>
    compareValues(left.floats[step]!, right.floats[step]!, sign);
  return firstOf(floats, count, order);
}

const fewPicked = 50;

/** As sorting all; most are not among a few first. */
function firstOf<T>(all: T[], count: number, order: (left: T, right: T) => number): T[] {
  if (count > fewPicked) return all.sort(order).slice(0, count);
  const first: T[] = [];
  for (const one of all) {
    if (first.length === count && (count === 0 || order(one, first[count - 1]!) >= 0)) continue;
    let at = first.length;
    while (at > 0 && order(one, first[at - 1]!) < 0) at -= 1;
    first.splice(at, 0, one);
    if (first.length > count) first.pop();
  }
  return first;
}

function checkParameter({ op }: Aggregation, param: Float64Array): void {
  if (param.some(Number.isNaN)) {
    throw executionError(`${op === 'limit_ratio' ? 'Ratio' : 'Parameter'} value is NaN`);
  }
  if (op === 'limit_ratio') return;
  for (const value of param) {
    if (value >= 2 ** 63) {
      throw executionError(`Scalar value ${formatShort(value)} overflows int64`);
    }
    if (value <= -(2 ** 63)) {
      throw executionError(`Scalar value ${formatShort(value)} underflows int64`);
    }
  }
}

/** A negative ratio takes what its complement leaves. */
function isSampled(labels: Labels, ratio: number): boolean {
  const at = offsetOf(labels);
  return ratio >= 0 ? at < Math.min(1, ratio) || ratio >= 1 : at >= 1 + Math.max(-1, ratio);
}

const offsets = new WeakMap<Labels, number>();

/** A number from 0 to 1 that depends on the labels alone. */
function offsetOf(labels: Labels): number {
  const known = offsets.get(labels);
  if (known !== undefined) return known;
  const digest = createHash('md5').update(labelsKey(labels)).digest();
  const offset = digest.readUInt32LE() / 2 ** 32;
  offsets.set(labels, offset);
  return offset;
}
