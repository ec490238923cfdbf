/** When alerts were pending and firing, from the series `ALERTS` or from a preview. Pure. */

export interface Span {
  readonly state: 'pending' | 'firing';
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface AlertHistory {
  readonly key: string;
  readonly name: string;
  /** Without the name of the alert. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** In order of time. */
  readonly spans: readonly Span[];
}

/** How long a sample is valid without `lookback_delta`. */
const usualLookbackSeconds = 300;

/**
 * Samples of ALERTS are an interval of their group apart, and the series of an alert that ends gets
 * a stale marker. @param groups with their intervals in seconds
 * @returns undefined where the usual lookback is enough
 */
export function toLookbackSeconds(
  groups: readonly { readonly interval: number }[],
): number | undefined {
  const longest = Math.max(0, ...groups.map(({ interval }) => interval));
  // An evaluation may be late.
  return longest < usualLookbackSeconds ? undefined : longest + usualLookbackSeconds;
}

/** How the series of alerts are read at steps. */
export interface HistoryRead {
  readonly query: string;
  readonly lookbackSeconds: number | undefined;
  /** Of what each sample tells: the step after its time, or the one before. */
  readonly tellsOf: 'after' | 'before';
}

/** Also of groups that were deleted. */
const usualIntervalSeconds = 60;

/**
 * Between two steps an alert may begin and end. Where each step has evaluations of all groups, it
 * is looked at as a whole.
 */
export function toHistoryRead(
  selector: string,
  groups: readonly { readonly interval: number }[],
  stepMs: number,
): HistoryRead {
  const longest = Math.max(usualIntervalSeconds, ...groups.map(({ interval }) => interval));
  if (stepMs > longest * 1000) {
    const query = `last_over_time(${selector}[${stepMs}ms])`;
    return { query, lookbackSeconds: undefined, tellsOf: 'before' };
  }
  return { query: selector, lookbackSeconds: toLookbackSeconds(groups), tellsOf: 'after' };
}

type Labels = Readonly<Record<string, string>>;

interface AlertSeries {
  readonly metric: Labels;
  readonly values?: readonly (readonly [seconds: number, value: string])[];
}

/** One per label set, the one that was active last first. @param stepMs between the samples */
export function toHistories(
  series: readonly AlertSeries[],
  stepMs: number,
  tellsOf: HistoryRead['tellsOf'],
): AlertHistory[] {
  const shiftMs = tellsOf === 'before' ? stepMs : 0;
  const byLabels = Map.groupBy(series, ({ metric: { alertstate: _, ...labels } }) => keyOf(labels));
  const histories = [...byLabels].map(([key, own]) => ({
    key,
    ...named(own[0]!.metric),
    spans: own
      .flatMap(({ metric, values = [] }) =>
        spansOf(
          metric['alertstate'] === 'firing' ? 'firing' : 'pending',
          values.map(([seconds]) => Math.round(seconds * 1000) - shiftMs),
          stepMs,
        ),
      )
      // Of the same step the later state is drawn over the earlier one.
      .sort((a, b) => a.fromMs - b.fromMs || (a.state < b.state ? 1 : -1)),
  }));
  return histories.sort((a, b) => endOf(b) - endOf(a));
}

function spansOf(state: Span['state'], times: readonly number[], stepMs: number): Span[] {
  const spans: Span[] = [];
  for (const time of times) {
    const last = spans.at(-1);
    if (last !== undefined && time <= last.untilMs) {
      spans[spans.length - 1] = { ...last, untilMs: time + stepMs };
    } else spans.push({ state, fromMs: time, untilMs: time + stepMs });
  }
  return spans;
}

function endOf({ spans }: AlertHistory): number {
  return spans.at(-1)?.untilMs ?? 0;
}

export interface PreviewedAlert {
  readonly labels: Labels;
  readonly activeAt: string;
  readonly firedAt: string | null;
  readonly endedAt: string | null;
}

/** One per label set, in order of their first activity. @param untilMs end of the preview */
export function toPreviewed(alerts: readonly PreviewedAlert[], untilMs: number): AlertHistory[] {
  const byLabels = Map.groupBy(alerts, ({ labels }) => keyOf(labels));
  return [...byLabels].map(([key, own]) => ({
    key,
    ...named(own[0]!.labels),
    spans: own.flatMap(({ activeAt, firedAt, endedAt }) => {
      const [fromMs, endMs] = [Date.parse(activeAt), endedAt ? Date.parse(endedAt) : untilMs];
      if (firedAt === null) return [{ state: 'pending' as const, fromMs, untilMs: endMs }];
      const firedMs = Date.parse(firedAt);
      const pending = { state: 'pending' as const, fromMs, untilMs: firedMs };
      const firing = { state: 'firing' as const, fromMs: firedMs, untilMs: endMs };
      return firedMs > fromMs ? [pending, firing] : [firing];
    }),
  }));
}

export function named(labels: Labels): Pick<AlertHistory, 'name' | 'labels'> {
  const { alertname = '', ...others } = labels;
  const shown = Object.entries(others).filter(
    ([name]) => name !== '__name__' && name !== 'alertstate',
  );
  return { name: alertname, labels: shown };
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
