/** Widths of columns, kept in this browser for all lists. */
import { type CSSProperties, useMemo } from 'react';
import type { FieldName } from '../log/log-fields.ts';
import { useKept } from '../use-kept.ts';

export interface ColumnWidths {
  /** px */
  readonly of: (name: FieldName) => number;
  /** @param width in px; undefined = the usual one */
  readonly set: (name: FieldName, width: number | undefined) => void;
  readonly style: CSSProperties;
}

const usualWidth = 112;
const minWidth = 48;
const maxWidth = 1_000;

export function useColumnWidths(columns: readonly FieldName[]): ColumnWidths {
  const [kept, keep] = useKept<Readonly<Record<string, number>>>('weir.columns.widths', {});
  return useMemo(() => {
    const of = (name: FieldName) => (Object.hasOwn(kept, name) ? kept[name] : undefined);
    return {
      of: (name) => of(name) ?? usualWidth,
      set(name, width) {
        const { [name]: _, ...others } = kept;
        keep(width === undefined ? others : { ...others, [name]: bounded(width) });
      },
      style: styleOf(columns.map(of)),
    };
    // `keep` is a new function on each render.
  }, [columns, kept]);
}

function bounded(width: number): number {
  return Math.round(Math.max(minWidth, Math.min(maxWidth, width)));
}

/** @param widths undefined = grows with the list */
function styleOf(widths: readonly (number | undefined)[]): CSSProperties {
  const tracks = widths.map((width) => (width === undefined ? 'minmax(6rem, 9rem)' : `${width}px`));
  const least = widths.map((width) => (width === undefined ? '6.75rem' : `${width}px + 0.75rem`));
  return {
    '--extra-columns': tracks.join(' '),
    '--extra-width': `calc(${['0px', ...least].join(' + ')})`,
  } as CSSProperties;
}
