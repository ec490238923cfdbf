/** The commonest values of fields, with their shares. Pure. */
import { escapeControls } from '../terminal.ts';
import { toBar } from './bars.ts';
import type { ChartOptions } from './histogram-text.ts';

export interface Facet {
  readonly field: string;
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Logs with none of the values. */
  readonly other: number;
  readonly total: number;
}

const barWidth = 20;
const widestValue = 60;

export function facetsText(facets: readonly Facet[], options: Omit<ChartOptions, 'zone'>): string {
  return facets.map((facet) => facetText(facet, options)).join('\n');
}

function facetText(
  { field, values, other, total }: Facet,
  { style, bars, columns }: Omit<ChartOptions, 'zone'>,
): string {
  const rows = values.map(({ value, count }) => ({ name: toName(value), count }));
  if (other > 0) rows.push({ name: '(other)', count: other });
  const countWidth = Math.max(0, ...rows.map(({ count }) => String(count).length));
  const room = Math.max(10, columns - barWidth - countWidth - 12);
  const most = Math.min(widestValue, room);
  const nameWidth = Math.min(most, Math.max(0, ...rows.map(({ name }) => name.length)));
  const lines = rows.map(({ name, count }) => {
    const share = total === 0 ? 0 : count / total;
    const percent = `${(share * 100).toFixed(1)} %`.padStart(7);
    const bar = style('cyan', toBar(share, barWidth, bars));
    const shown = shorten(name, most).padEnd(nameWidth);
    return `  ${shown}  ${String(count).padStart(countWidth)} ${percent} ${bar}`.trimEnd();
  });
  const head = `${style('bold', field)}  ${style('dim', `${total} logs`)}`;
  return [head, ...lines].map((line) => `${line}\n`).join('');
}

/** A value in brackets is no value: nobody would type it as a filter. */
function toName(value: string): string {
  return value === '' ? '(none)' : escapeControls(value);
}

function shorten(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}
