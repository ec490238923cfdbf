/** Line chart over time with range selection. */
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type AlignedColumn, alignSeries } from './aligned-series.ts';
import { useThemeColors, useThemeKey } from './theme-colors.ts';
import { formatValue } from './format-value.ts';
import styles from './time-lines.module.css';
import { type Line, type Pointer, TimeReadout } from './time-readout.tsx';

export interface TimeLinesProps {
  readonly lines: readonly Line[];
  /** Unix ms; the axis shows the whole range even without samples. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isUtc: boolean;
  /** Accessible name. */
  readonly label: string;
  readonly onBrush: (fromMs: number, untilMs: number) => void;
}

const height = 320;
/** Pixels of the value axis. */
const axisWidth = 70;

export function TimeLines({ lines, fromMs, untilMs, isUtc, label, onBrush }: TimeLinesProps) {
  const holder = useRef<HTMLDivElement>(null);
  const brush = useRef(onBrush);
  const [pointer, setPointer] = useState<Pointer | undefined>();
  const colors = useThemeColors();
  const theme = useThemeKey();
  const data = useMemo(() => alignSeries(lines), [lines]);
  useEffect(() => {
    brush.current = onBrush;
  });

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const text = colors('--text-quiet');
    const grid = { stroke: colors('--line'), width: 1 };
    const axis = { stroke: text, grid, ticks: grid, font: '12px system-ui' };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (seconds) => toDate(seconds, isUtc),
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
        scales: { x: { range: [fromMs / 1000, untilMs / 1000] } },
        axes: [
          { ...axis, values: timeLabels },
          { ...axis, size: axisWidth, values: (_, ticks) => ticks.map(formatValue) },
        ],
        series: [
          {},
          ...lines.map(({ name, color }) => ({
            label: name,
            stroke: color,
            width: 1.5,
            points: { size: 4 },
          })),
        ],
        hooks: {
          setCursor: [({ cursor, over }) => setPointer(toPointer(cursor, over.clientWidth))],
          setSelect: [
            ({ select, posToVal }) => {
              if (select.width < 4) return;
              const edge = (left: number) => Math.round(posToVal(left, 'x') * 1000);
              brush.current(edge(select.left), edge(select.left + select.width));
            },
          ],
        },
      },
      data as unknown as [number[], ...AlignedColumn[]],
      element,
    );
    const observer = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [data, lines, fromMs, untilMs, isUtc, colors, theme]);

  return (
    <div className={styles.frame}>
      <div ref={holder} className={styles.chart} role="img" aria-label={label} />
      {pointer && <TimeReadout pointer={pointer} lines={lines} data={data} isUtc={isUtc} />}
    </div>
  );
}

function toPointer({ idx, left = 0 }: uPlot.Cursor, width: number): Pointer | undefined {
  if (idx === null || idx === undefined || left < 0) return undefined;
  return { index: idx, left: axisWidth + left, isRightHalf: left > width / 2 };
}

const day = '{YYYY}-{MM}-{DD}';
/**
 * For each step: minimum distance of ticks in pixels, their format, and the format at the start of
 * a day.
 */
const timeLabels: uPlot.Axis.Values = [
  [86_400, day, null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', `\n${day}`, null, `\n${day}`, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', `\n${day}`, null, `\n${day}`, null, null, null, 1],
];

function toDate(seconds: number, isUtc: boolean): Date {
  const date = new Date(seconds * 1000);
  return isUtc ? uPlot.tzDate(date, 'Etc/UTC') : date;
}
