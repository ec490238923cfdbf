/** Line chart over time with range selection. */
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type AlignedColumn, alignSeries, valueAt } from './aligned-series.ts';
import { formatMs, type Zone } from '../parts/text/time-text.ts';
import { useThemeColors } from './theme-colors.ts';
import styles from './time-lines.module.css';
import { type Line, type Pointer, TimeReadout } from './time-readout.tsx';
import { placeByKey } from './use-brush.ts';
import { tickSteps, valueFormat } from './value-format.ts';

export interface TimeLinesProps {
  readonly lines: readonly Line[];
  /** Unix ms; the axis shows the whole range even without samples. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly zone: Zone;
  /** Accessible name. */
  readonly label: string;
  readonly onBrush: (fromMs: number, untilMs: number) => void;
  /** By click, or with the arrow keys and Enter: the time of the nearest point in Unix ms. */
  readonly onPick?: (ms: number) => void;
  /** The value axis includes zero; default false. */
  readonly isZeroBased?: boolean;
  /** Of the values, as `valueFormat` knows it; default: none. */
  readonly unit?: string;
}

const height = 320;
/** Pixels of the value axis, unless its labels are longer. */
const minAxisWidth = 70;

export function TimeLines(props: TimeLinesProps) {
  const { lines, fromMs, untilMs, zone, label, isZeroBased, unit = '' } = props;
  const format = valueFormat(unit);
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [pointer, setPointer] = useState<Pointer | undefined>();
  const colors = useThemeColors();
  const data = useMemo(() => alignSeries(lines), [lines]);
  const onBrush = useEffectEvent(props.onBrush);
  const onPick = useEffectEvent((ms: number) => props.onPick?.(ms));

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const chart = createPlot(element, { ...props, data, colors, onBrush, setPointer });
    plot.current = chart;
    chart.over.addEventListener('click', () => pick(chart, onPick));
    const observer = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [data, lines, fromMs, untilMs, zone, isZeroBased, unit, colors]);

  return (
    <div className={styles.frame}>
      {props.onPick ? (
        <div
          ref={holder}
          className={styles.chart}
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-valuemin={1}
          aria-valuemax={Math.max(1, data[0].length)}
          aria-valuenow={(pointer?.index ?? data[0].length - 1) + 1}
          aria-valuetext={pointer && textOf(pointer.index, data, props)}
          onKeyDown={(event) => {
            const isMove = plot.current && moveByKey(plot.current, event.key, props.onPick);
            if (isMove) event.preventDefault();
          }}
          onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
        />
      ) : (
        <div ref={holder} className={styles.chart} role="img" aria-label={label} />
      )}
      {pointer && (
        <TimeReadout pointer={pointer} lines={lines} data={data} zone={zone} format={format} />
      )}
    </div>
  );
}

interface Plotting extends TimeLinesProps {
  readonly data: ReturnType<typeof alignSeries>;
  readonly colors: (property: string) => string;
  readonly setPointer: (pointer: Pointer | undefined) => void;
}

function createPlot(element: HTMLElement, plotting: Plotting): uPlot {
  const { lines, fromMs, untilMs, zone, isZeroBased, unit = '', data, colors } = plotting;
  const steps = tickSteps(unit);
  const text = colors('--text-quiet');
  const grid = { stroke: colors('--line'), width: 1 };
  const axis = { stroke: text, grid, ticks: grid, font: '12px system-ui' };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    tzDate: (seconds) => toDate(seconds, zone),
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    scales: {
      x: { range: [fromMs / 1000, untilMs / 1000] },
      y: isZeroBased ? { range: { min: atZero, max: atZero } } : {},
    },
    axes: [
      { ...axis, values: timeLabels },
      {
        ...axis,
        size: axisWidth,
        values: (_, ticks) => ticks.map(valueFormat(unit)),
        ...(steps && { incrs: [...steps] }),
      },
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
      setCursor: [({ cursor, over }) => plotting.setPointer(toPointer(cursor, over))],
      setSelect: [
        ({ select, posToVal }) => {
          if (select.width < 4) return;
          const edge = (left: number) => Math.round(posToVal(left, 'x') * 1000);
          plotting.onBrush(edge(select.left), edge(select.left + select.width));
        },
      ],
    },
  };
  return new uPlot(options, data as unknown as [number[], ...AlignedColumn[]], element);
}

/** An axis that ends at zero unless data are beyond it. */
const atZero: uPlot.Range.Limit = { soft: 0, mode: 1, pad: 0.1 };

/** Pixels; 22 are of the tick marks and the gap, 7 of a character of 12 px. */
function axisWidth(_: uPlot, labels: readonly string[] | null): number {
  return Math.max(minAxisWidth, ...(labels ?? []).map((label) => 22 + 7 * label.length));
}

function pick({ cursor, data }: uPlot, onPick: TimeLinesProps['onPick']): void {
  const seconds = data[0][cursor.idx ?? -1];
  if (seconds !== undefined) onPick?.(Math.round(seconds * 1000));
}

/** @returns whether the key has a meaning here */
function moveByKey(chart: uPlot, key: string, onPick: TimeLinesProps['onPick']): boolean {
  const [seconds] = chart.data;
  const at = chart.cursor.idx ?? seconds.length;
  if (key === 'Enter') pick(chart, onPick);
  const target = placeByKey(key, at, seconds.length);
  if (target === undefined) return key === 'Enter';
  chart.setCursor({ left: chart.valToPos(seconds[target]!, 'x'), top: height / 2 });
  return true;
}

function textOf(
  index: number,
  [seconds, ...columns]: ReturnType<typeof alignSeries>,
  { lines, zone, unit = '' }: TimeLinesProps,
): string {
  const format = valueFormat(unit);
  const words = lines.flatMap(({ name }, place) => {
    const value = valueAt(columns[place] ?? [], index);
    return value === undefined ? [] : [`${name} ${format(value)}`];
  });
  return `${formatMs((seconds[index] ?? 0) * 1000, zone)}: ${words.join(', ') || 'no values'}`;
}

function toPointer({ idx, left = 0 }: uPlot.Cursor, over: HTMLElement): Pointer | undefined {
  if (idx === null || idx === undefined || left < 0) return undefined;
  return { index: idx, left: over.offsetLeft + left, isRightHalf: left > over.clientWidth / 2 };
}

const day = '{YYYY}-{MM}-{DD}';
/**
 * For each step: its length in seconds, the format of ticks, that of the first tick and that at the
 * start of a day.
 */
const timeLabels: uPlot.Axis.Values = [
  [86_400, day, null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', `\n${day}`, null, '\n{MM}-{DD}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', `\n${day}`, null, '\n{MM}-{DD}', null, null, null, 1],
];

function toDate(seconds: number, zone: Zone): Date {
  const date = new Date(seconds * 1000);
  return zone === 'utc' ? uPlot.tzDate(date, 'Etc/UTC') : date;
}
