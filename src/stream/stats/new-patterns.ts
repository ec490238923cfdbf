/**
 * Rules on logs: the templates of messages that occur in a window and not in the baseline, the time
 * before it. Both are read as bounded samples; what is not in that of the baseline is looked for in
 * all of its logs.
 */
import type { HistogramPlan, HistogramResult } from '../../model/plan.ts';
import type { ReadContext } from '../../model/readable-streams.ts';
import type { Alert, LogsRuleQuery, RuleSample } from '../../model/rules.ts';
import type { MessagesResult } from '../../model/sample-plan.ts';
import { describe } from '../../patterns/describe.ts';
import { mineTemplates } from '../../patterns/mine.ts';
import { joinQueries } from '../../query/join.ts';
import { planSample } from '../plan.ts';

export interface PatternStore {
  messages(plan: HistogramPlan): Promise<MessagesResult>;
  histogram(plan: HistogramPlan): Promise<HistogramResult>;
}

export interface AskedPatterns {
  readonly rule: LogsRuleQuery;
  readonly streamId: string;
  /** End of the window. */
  readonly atMs: number;
  /** Of a number of logs. */
  readonly isWanted: (count: number) => boolean;
}

/** The most frequent ones, each an alert. */
const maxPatterns = 20;
/** Of the label `pattern`. */
const maxTextLength = 300;
const logsQuery = 'logs_query';

/** The query that finds the logs of an alert on a new pattern; undefined for other alerts. */
export function logsQueryOf(annotations: Alert['annotations']): string | undefined {
  return annotations[logsQuery];
}

/** One sample per new pattern, whose value is its number of logs. @throws AppError */
export async function findNewPatterns(
  store: PatternStore,
  context: ReadContext,
  { rule, streamId, atMs, isWanted }: AskedPatterns,
): Promise<RuleSample[]> {
  const { query, windowMs, baselineMs = 0 } = rule;
  const beginMs = atMs - windowMs;
  const toPlan = (asked: string, sinceMs: number, untilMs: number): HistogramPlan =>
    planSample(context, {
      streamId: [streamId],
      query: asked,
      startTime: toNanos(sinceMs),
      endTime: toNanos(untilMs),
    });
  const toBaseline = (asked: string) => toPlan(asked, beginMs - baselineMs, beginMs);
  const found = await store.messages(toPlan(query, beginMs, atMs));
  if (found.groups.length === 0) return [];
  const known = await store.messages(toBaseline(query));
  const samples = new Map<string, RuleSample>();
  for (const one of await unknownPatterns(found, known)) {
    const asked = joinQueries([query, one.query]);
    if (samples.has(one.text) || !isWanted(one.count)) continue;
    if (known.total > 0 && (await count(toBaseline(asked))) > 0) continue;
    const { text, sample } = one;
    const annotations = { [logsQuery]: asked, sample_log: sample, ...noteOf(found) };
    samples.set(text, { labels: { pattern: text }, value: one.count, annotations });
  }
  return [...samples.values()];

  async function count(plan: HistogramPlan): Promise<number> {
    return (await store.histogram(plan)).counts[0]!;
  }
}

interface Pattern {
  readonly text: string;
  readonly query: string;
  /** Logs of the window; estimated from the sample. */
  readonly count: number;
  /** The last message, cut. */
  readonly sample: string;
}

/** Those without a message of the known ones, the most frequent first. */
async function unknownPatterns(found: MessagesResult, known: MessagesResult): Promise<Pattern[]> {
  // Together, since more messages tell words from values better.
  const groups = [...found.groups, ...known.groups];
  const templates = (await mineTemplates(groups))
    .filter(({ members }) => members.every((member) => member < found.groups.length))
    .map((template) => {
      const own = template.members.map((member) => found.groups[member]!);
      return { template, own, count: own.reduce((sum, one) => sum + one.count, 0) };
    });
  const frequent = templates.sort((a, b) => b.count - a.count).slice(0, maxPatterns);
  const patterns: Pattern[] = [];
  for (const { template, own, count } of frequent) {
    const { text, query } = await describe(template, groups);
    const last = own.reduce((a, b) => (b.last.timeNanos > a.last.timeNanos ? b : a));
    patterns.push({
      text: text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text,
      query,
      count: Math.round((count * found.total) / found.sampled),
      sample: last.lastText,
    });
  }
  return patterns;
}

function noteOf({ sampled, total }: MessagesResult): Readonly<Record<string, string>> {
  return sampled === total ? {} : { sampled: `${sampled} of ${total} logs were looked at` };
}

function toNanos(timeMs: number): bigint {
  return BigInt(Math.max(Math.floor(timeMs), 0)) * 1_000_000n;
}
