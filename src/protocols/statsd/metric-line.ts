/**
 * Lines of StatsD (https://github.com/statsd/statsd/blob/master/docs/metric_types.md) with the tags
 * and the several values of DogStatsD
 * (https://docs.datadoghq.com/developers/dogstatsd/datagram_shell): `name:1:2|c|@0.1|#tag:value`.
 * Tags may also be in the name.
 */
import type { LabelLimits } from '../../codec/series-labels.ts';
import { decimal } from '../../std/decimal.ts';

export type MetricType = 'counter' | 'gauge' | 'set' | 'summary';

export interface MetricLine {
  readonly name: string;
  readonly type: MetricType;
  readonly values: readonly string[];
  /** What a value of a timer is multiplied with: its series is in seconds. */
  readonly scale: number;
  /** From 0, excluded, to 1. */
  readonly sampleRate: number;
  /** Labels in the text format, sorted, without braces; empty without tags. */
  readonly labels: string;
}

const types: ReadonlyMap<string, MetricType> = new Map([
  ['c', 'counter'],
  ['g', 'gauge'],
  ['ms', 'summary'],
  ['h', 'summary'],
  ['d', 'summary'],
  ['s', 'set'],
]);
/** Besides tags: the name, and the quantile of a summary. */
const ownLabels = 2;
const longestSuffix = '_count'.length;
/** Tags in the name, as of Telegraf (`name,tag=value`) and Graphite (`name;tag=value`). */
const taggedName = /^([^,;]+)((?:[,;][^,;=]+=[^,;]*)+)$/;

/**
 * @param limits a series beyond them would fail the push of all series of its name
 * @returns undefined if the line is malformed, or an event or a service check of DogStatsD
 */
export function parseMetricLine(line: string, limits: LabelLimits): MetricLine | undefined {
  const colon = line.indexOf(':');
  if (colon < 1 || line.startsWith('_e{') || line.startsWith('_sc|')) return undefined;
  const [sent = '', word = '', ...sections] = line.slice(colon + 1).split('|');
  const type = types.get(word);
  if (type === undefined) return undefined;
  const values = type === 'set' ? [sent] : sent.split(':');
  const isNumber = (value: string) => decimal.test(value) && Number.isFinite(Number(value));
  if (type !== 'set' && !values.every(isNumber)) return undefined;
  let sampleRate = 1;
  const [, name = line.slice(0, colon), inName = ''] = taggedName.exec(line.slice(0, colon)) ?? [];
  const tags = inName === '' ? [] : inName.split(/[,;]/).map(toTag);
  for (const section of sections) {
    if (section.startsWith('@')) sampleRate = Number(section.slice(1));
    if (section.startsWith('#')) tags.push(...section.slice(1).split(','));
  }
  if (!(sampleRate > 0 && sampleRate <= 1)) return undefined;
  const labels = toLabels(tags, limits);
  if (labels === undefined) return undefined;
  if (name.length + longestSuffix >= limits.maxLabelValueLength) return undefined;
  const scale = word === 'ms' ? 0.001 : 1;
  return { name: toName(name), type, values, scale, sampleRate, labels };
}

function toTag(inName: string): string {
  return inName.replace('=', ':');
}

/** As statsd_exporter writes names of metrics and labels. */
function toName(sent: string): string {
  return sent.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}

/**
 * Tags without a value, and those whose name is not theirs to set, are left out.
 * @returns undefined beyond a limit
 */
function toLabels(tags: readonly string[], limits: LabelLimits): string | undefined {
  const labels = new Map<string, string>();
  for (const tag of tags) {
    const colon = tag.indexOf(':');
    const name = toName(tag.slice(0, Math.max(colon, 0)));
    const value = tag.slice(colon + 1);
    if (name === '' || value === '' || name.startsWith('__') || name === 'quantile') continue;
    const isTooLong =
      name.length > limits.maxLabelNameLength || value.length > limits.maxLabelValueLength;
    labels.set(name, value);
    if (isTooLong || labels.size + ownLabels > limits.maxLabels) return undefined;
  }
  return Array.from(labels, ([name, value]) => `${name}="${escape(value)}"`)
    .toSorted()
    .join(',');
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
