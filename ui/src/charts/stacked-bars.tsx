/**
 * Counts over time as stacked bars with range selection. One SVG path per series keeps 500 buckets
 * fast and lets CSS change the theme.
 */
import { useId, useMemo } from 'react';
import { barEdges, bucketEdge, roundMax, shortCount, stackPaths } from './bar-layout.ts';
import { BarsReadout } from './bars-readout.tsx';
import styles from './stacked-bars.module.css';
import { TimeAxis } from './time-axis.tsx';
import { formatSpan, type Zone } from '../parts/text/time-text.ts';
import { type BucketSpan, useBrush } from './use-brush.ts';
import { useWidth } from './use-width.ts';

export interface BarSeries {
  readonly name: string;
  /** Any CSS colour, including `var(--…)`. */
  readonly color: string;
  /** One per bucket. */
  readonly values: readonly number[];
}

export interface StackedBarsProps {
  /** Accessible name, such as `Logs over time`. */
  readonly label: string;
  /** Unix ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly buckets: number;
  /** Bottom of the stack first. */
  readonly series: readonly BarSeries[];
  readonly zone: Zone;
  /** Pixels without the axis; default 96. */
  readonly height?: number;
  /** Read instead of the counts, which are absent or of another query. */
  readonly pending?: string | undefined;
  /** Called with the selected range in Unix ms, on bucket edges. Absent = no selection. */
  readonly onBrush?: (fromMs: number, untilMs: number) => void;
}

export function StackedBars(props: StackedBarsProps) {
  const { startMs, endMs, buckets, series, zone, height = 96, pending, onBrush } = props;
  const [frame, width] = useWidth();
  const edge = (at: number) => bucketEdge(startMs, endMs, at, buckets);
  const brush = useBrush(
    buckets,
    onBrush && (({ first, last }) => onBrush(edge(first), edge(last + 1))),
  );
  const totals = useMemo(() => totalsOf(series, buckets), [series, buckets]);
  const max = roundMax(Math.max(0, ...totals));
  const shown = brush.chosen ?? (brush.pointed === undefined ? undefined : one(brush.pointed));
  const summaryId = useId();

  return (
    <div className={styles.chart}>
      <div className={styles.scale} style={{ height }} aria-hidden="true">
        <span>{shortCount(max)}</span>
        <span>{max % 2 === 0 && shortCount(max / 2)}</span>
        <span>0</span>
      </div>
      <div
        ref={frame}
        className={styles.plot}
        data-can-brush={onBrush !== undefined}
        role="slider"
        tabIndex={0}
        aria-label={props.label}
        aria-describedby={summaryId}
        aria-valuemin={1}
        aria-valuemax={buckets}
        aria-valuenow={(brush.pointed ?? buckets - 1) + 1}
        aria-valuetext={pending ?? wordsOf(shown ?? one(buckets - 1), props, totals)}
        {...brush.handlers}
      >
        <Bars series={series} width={width} height={height} max={max} />
        {shown && (
          <Marked
            span={shown}
            buckets={buckets}
            width={width}
            isChosen={brush.chosen !== undefined}
          />
        )}
        {shown && brush.pointed !== undefined && pending === undefined && (
          <BarsReadout
            title={formatSpan(edge(shown.first), edge(shown.last + 1), zone)}
            rows={rowsOf(shown, series)}
            leftRatio={(brush.pointed + 0.5) / buckets}
          />
        )}
      </div>
      <div className={styles.axis}>
        <TimeAxis startMs={startMs} endMs={endMs} width={width} zone={zone} />
      </div>
      <p id={summaryId} className="only-read">
        {pending ?? summaryOf(props, totals)}
      </p>
    </div>
  );
}

interface BarsProps {
  readonly series: readonly BarSeries[];
  readonly width: number;
  readonly height: number;
  readonly max: number;
}

function Bars({ series, width, height, max }: BarsProps) {
  const paths = useMemo(
    () =>
      stackPaths(
        series.map(({ values }) => values),
        { width, height, max },
      ),
    [series, width, height, max],
  );
  return (
    <svg className={styles.bars} style={{ height }} aria-hidden="true">
      {series.map(({ name, color }, index) => (
        <path key={name} d={paths[index]} style={{ fill: color }} />
      ))}
    </svg>
  );
}

interface MarkedProps {
  readonly span: BucketSpan;
  readonly buckets: number;
  readonly width: number;
  readonly isChosen: boolean;
}

function Marked({ span: { first, last }, buckets, width, isChosen }: MarkedProps) {
  const { left } = barEdges(first, buckets, width);
  const { right } = barEdges(last, buckets, width);
  const className = isChosen ? styles.chosen : styles.pointed;
  return <div className={className} style={{ left, width: right - left }} />;
}

function totalsOf(series: readonly BarSeries[], buckets: number): number[] {
  const totals = Array.from({ length: buckets }, () => 0);
  for (const { values } of series) {
    for (let bucket = 0; bucket < buckets; bucket += 1) totals[bucket]! += values[bucket] ?? 0;
  }
  return totals;
}

function rowsOf(span: BucketSpan, series: readonly BarSeries[]) {
  return series
    .map(({ name, color, values }) => ({ name, color, count: sum(values, span) }))
    .filter(({ count }) => count > 0)
    .toReversed();
}

function wordsOf(span: BucketSpan, props: StackedBarsProps, totals: readonly number[]): string {
  const { startMs, endMs, buckets, series, zone } = props;
  const from = bucketEdge(startMs, endMs, span.first, buckets);
  const until = bucketEdge(startMs, endMs, span.last + 1, buckets);
  const parts = rowsOf(span, series).map(({ name, count }) => `${count} ${name}`);
  return `${formatSpan(from, until, zone)}: ${sum(totals, span)} in total. ${parts.join(', ')}`;
}

function summaryOf(props: StackedBarsProps, totals: readonly number[]): string {
  const { startMs, endMs, buckets, series, zone, onBrush } = props;
  const all = { first: 0, last: buckets - 1 };
  const highest = Math.max(0, ...totals);
  const peak = totals.indexOf(highest);
  const whole = formatSpan(startMs, endMs, zone);
  const parts = rowsOf(all, series).map(({ name, count }) => `${count} ${name}`);
  const keys = onBrush
    ? ' Arrow keys move between the bars, Shift and an arrow key select a range, Enter zooms in.'
    : '';
  if (highest === 0) return `None from ${whole}.${keys}`;
  const [from, until] = [peak, peak + 1].map((at) => bucketEdge(startMs, endMs, at, buckets));
  return (
    `From ${whole}: ${sum(totals, all)} in total; ${parts.join(', ')}. ` +
    `Most from ${formatSpan(from!, until!, zone)}: ${highest}.${keys}`
  );
}

function sum(values: readonly number[], { first, last }: BucketSpan): number {
  let total = 0;
  for (let bucket = first; bucket <= last; bucket += 1) total += values[bucket] ?? 0;
  return total;
}

function one(bucket: number): BucketSpan {
  return { first: bucket, last: bucket };
}
