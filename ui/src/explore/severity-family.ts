/** Groups severity words into families with colours. Pure. */

const severityFamilies = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'other'] as const;
export type SeverityFamily = (typeof severityFamilies)[number];

const aliases: Readonly<Record<string, SeverityFamily>> = {
  EMERG: 'fatal',
  EMERGENCY: 'fatal',
  PANIC: 'fatal',
  ERR: 'error',
  SEVERE: 'error',
  CRIT: 'error',
  CRITICAL: 'error',
  ALERT: 'error',
  WARNING: 'warn',
  NOTICE: 'info',
  INFORMATION: 'info',
  INFORMATIONAL: 'info',
  DBG: 'debug',
  VERBOSE: 'trace',
};

/** By name (`WARN`, `ERROR3`) and by the aliases that the service knows, ignoring case. */
export function severityFamily(word: string): SeverityFamily {
  const upper = word.toUpperCase();
  if (Object.hasOwn(aliases, upper)) return aliases[upper]!;
  const plain = upper.replace(/^(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)[2-4]$/, '$1').toLowerCase();
  return severityFamilies.find((family) => family === plain) ?? 'other';
}

/** Any CSS colour. */
export function severityColor(family: SeverityFamily): string {
  return `var(--severity-${family === 'other' ? 'none' : family})`;
}

const quiet: readonly SeverityFamily[] = ['info', 'debug', 'trace', 'other'];

/** Of a bar, where errors stand out. */
export function barColor(family: SeverityFamily): string {
  if (!quiet.includes(family)) return severityColor(family);
  return `var(--bar-${family === 'other' ? 'none' : family})`;
}

interface Counted {
  readonly groups?: Readonly<Record<string, number>> | undefined;
  /** Of words that are not listed. */
  readonly other?: number | undefined;
}

/** Counts per bucket for each family that occurs, most severe first. */
export function groupByFamily(
  buckets: readonly Counted[],
): { family: SeverityFamily; values: number[]; total: number }[] {
  const counts = new Map<SeverityFamily, number[]>();
  for (const [at, { groups = {}, other = 0 }] of buckets.entries()) {
    const words = Object.entries(groups);
    if (other > 0) words.push(['', other]);
    for (const [word, count] of words) {
      const family = severityFamily(word);
      let values = counts.get(family);
      if (values === undefined) {
        values = buckets.map(() => 0);
        counts.set(family, values);
      }
      values[at]! += count;
    }
  }
  return severityFamilies.flatMap((family) => {
    const values = counts.get(family);
    if (values === undefined) return [];
    return [{ family, values, total: values.reduce((sum, count) => sum + count, 0) }];
  });
}
