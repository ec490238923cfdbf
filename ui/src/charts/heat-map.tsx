/** Counts by time and value as colours, with range selection. */
import { useEffect, useMemo, useRef, useState } from 'react';
import styles from './heat-map.module.css';
import { useThemeColors } from './theme-colors.ts';
import { TimeAxis } from './time-axis.tsx';
import { formatSpan, type Zone } from '../parts/text/time-text.ts';
import { useBrush } from './use-brush.ts';
import { useWidth } from './use-width.ts';

export interface HeatGrid {
  /** Unix ms, at equal distances: each column counts what ended at its time. */
  readonly times: readonly number[];
  /** Bounds of the rows, ascending; one more than rows. */
  readonly edges: readonly number[];
  /** By column, then row. */
  readonly cells: readonly Float64Array[];
}

export interface HeatMapProps {
  readonly grid: HeatGrid;
  readonly zone: Zone;
  /** Accessible name. */
  readonly label: string;
  /** Of the edges. */
  readonly format: (value: number) => string;
  readonly onBrush: (fromMs: number, untilMs: number) => void;
  /** One column was selected. */
  readonly onPick: (ms: number) => void;
}

const height = 320;

export function HeatMap({ grid, zone, label, format, onBrush, onPick }: HeatMapProps) {
  const { times, edges, cells } = grid;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [frame, width] = useWidth();
  const [row, setRow] = useState<number>();
  const resolve = useThemeColors();
  const rows = edges.length - 1;
  const stepMs = (times[1] ?? times[0]! + 1000) - times[0]!;
  const max = useMemo(
    () => cells.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 0),
    [cells],
  );
  const brush = useBrush(times.length, ({ first, last }) => {
    if (first === last) onPick(times[first]!);
    else onBrush(times[first]! - stepMs, times[last]!);
  });

  useEffect(() => {
    if (canvas.current) draw(canvas.current, { grid, max, width, color: resolve('--accent') });
  }, [grid, max, width, resolve]);

  const shown = brush.pointed;
  const span = brush.chosen ?? (shown === undefined ? undefined : { first: shown, last: shown });
  const words = (at: number) => describe(grid, { at, stepMs, zone, format });
  return (
    <div className={styles.chart}>
      <div className={styles.scale} style={{ height }} aria-hidden="true">
        {labelledEdges(rows).map((edge) => (
          <span key={edge} style={{ bottom: `${(edge / rows) * 100}%` }}>
            {format(edges[edge]!)}
          </span>
        ))}
      </div>
      <div
        ref={frame}
        className={styles.plot}
        style={{ height }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={times.length}
        aria-valuenow={(shown ?? times.length - 1) + 1}
        aria-valuetext={words(shown ?? times.length - 1)}
        {...brush.handlers}
        onPointerMove={(event) => {
          const { top } = event.currentTarget.getBoundingClientRect();
          const fromBottom = 1 - (event.clientY - top) / height;
          setRow(Math.max(0, Math.min(rows - 1, Math.floor(fromBottom * rows))));
          brush.handlers.onPointerMove(event);
        }}
      >
        <canvas ref={canvas} className={styles.cells} aria-hidden="true" />
        {span && (
          <div
            className={styles.chosen}
            style={{
              left: `${(span.first / times.length) * 100}%`,
              width: `${((span.last - span.first + 1) / times.length) * 100}%`,
            }}
          />
        )}
        {shown !== undefined && (
          <Readout grid={grid} at={shown} row={row} {...{ stepMs, zone, format }} />
        )}
      </div>
      <div className={styles.axis}>
        <TimeAxis startMs={times[0]! - stepMs} endMs={times.at(-1)!} width={width} zone={zone} />
      </div>
    </div>
  );
}

interface ReadoutProps extends Described {
  readonly grid: HeatGrid;
  readonly row: number | undefined;
}

/** On the side with more room. */
function Readout({ grid: { times, edges, cells }, row, ...shown }: ReadoutProps) {
  const { at, stepMs, zone, format } = shown;
  const ratio = (at + 0.5) / times.length;
  return (
    <div
      className={styles.readout}
      style={
        ratio > 0.5
          ? { right: `calc(${(1 - ratio) * 100}% + 12px)` }
          : { left: `calc(${ratio * 100}% + 12px)` }
      }
      aria-hidden="true"
    >
      <strong>{formatSpan(times[at]! - stepMs, times[at]!, zone)}</strong>
      {row !== undefined && (
        <span>
          {format(edges[row]!)} to {format(edges[row + 1]!)}: {short(cells[at]![row] ?? 0)}
        </span>
      )}
      <span>{short(cells[at]!.reduce((a, b) => a + b, 0))} in total</span>
    </div>
  );
}

interface Drawing {
  readonly grid: HeatGrid;
  readonly max: number;
  readonly width: number;
  readonly color: string;
}

function draw(canvas: HTMLCanvasElement, { grid, max, width, color }: Drawing): void {
  const { cells, edges } = grid;
  const scale = devicePixelRatio;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = height * scale;
  const pen = canvas.getContext('2d');
  if (pen === null || max === 0) return;
  pen.fillStyle = color;
  const rows = edges.length - 1;
  const x = (at: number) => Math.round((at * canvas.width) / cells.length);
  const y = (row: number) => Math.round(canvas.height - (row * canvas.height) / rows);
  cells.forEach((column, at) => {
    column.forEach((count, row) => {
      if (count <= 0) return;
      // By the root, so that rare values remain visible beside frequent ones.
      pen.globalAlpha = 0.08 + 0.92 * Math.sqrt(count / max);
      pen.fillRect(x(at), y(row + 1), x(at + 1) - x(at), y(row) - y(row + 1));
    });
  });
}

/** At most nine, so that their texts do not touch. */
function labelledEdges(rows: number): number[] {
  const every = Math.ceil(rows / 8);
  return Array.from({ length: rows + 1 }, (_, edge) => edge).filter((edge) => edge % every === 0);
}

interface Described {
  readonly at: number;
  readonly stepMs: number;
  readonly zone: Zone;
  readonly format: (value: number) => string;
}

function describe({ times, edges, cells }: HeatGrid, { at, stepMs, zone, format }: Described) {
  const counts = [...cells[at]!].flatMap((count, row) =>
    count <= 0 ? [] : [`${format(edges[row]!)} to ${format(edges[row + 1]!)}: ${short(count)}`],
  );
  const time = formatSpan(times[at]! - stepMs, times[at]!, zone);
  return `${time}: ${counts.join(', ') || 'none'}`;
}

const compact = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

function short(count: number): string {
  return compact.format(count);
}
