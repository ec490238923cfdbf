/** Results of floods as a table, and violations. Pure. */
import type { Waits } from './bystander.ts';
import type { Flood, Outcome } from './run-flood.ts';

export interface Bounds {
  readonly maxGatewayBytes: number;
  /** Limit of the bystander's 99th percentile. */
  readonly maxP99Ms: number;
}

export interface Verdict extends Outcome {
  /** Acknowledged events that were missing afterwards. */
  readonly missing: number;
}

const mebibyte = 2 ** 20;

export function nameOf({ attack, port, hasToken }: Flood): string {
  if (attack === undefined) return 'none';
  return `${attack.name}, ${port}${hasToken ? ', with a token' : ''}`;
}

/** Violations, one sentence each. */
export function faultsOf(verdict: Verdict, { maxGatewayBytes, maxP99Ms }: Bounds): string[] {
  const { isAlive, peakBytes, elsewhere, missing } = verdict;
  const p99 = percentile(elsewhere.sender.latencies, 0.99);
  const refused = refusals(elsewhere.sender);
  return [
    ...(isAlive ? [] : ['the process ended']),
    ...(peakBytes > maxGatewayBytes
      ? [`the gateway took ${toMebibytes(peakBytes)} MiB of ${toMebibytes(maxGatewayBytes)}`]
      : []),
    ...(p99 > maxP99Ms ? [`p99 of the sender was ${Math.round(p99)} ms`] : []),
    ...(refused > 0 ? [`${refused} requests of the sender were not acknowledged`] : []),
    ...(missing > 0 ? [`${missing} acknowledged events are missing`] : []),
  ];
}

export function toTable(verdicts: readonly Verdict[], idleBytes: number): string {
  const rows = verdicts.map((verdict) => {
    const { flood, peakBytes, cores, elsewhere, neighbour, tally, isAlive } = verdict;
    return [
      nameOf(flood),
      isAlive ? 'yes' : '**no**',
      `${toMebibytes(peakBytes - idleBytes)}`,
      cores.toFixed(2),
      ...toCells(elsewhere.sender),
      ms(percentile(neighbour.sender.latencies, 0.99)),
      ms(percentile(elsewhere.reader.latencies, 0.99)),
      `${refusals(elsewhere.sender)}/${refusals(neighbour.sender)}/${refusals(elsewhere.reader)}`,
      Object.entries(tally)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ];
  });
  const head = [
    'flood',
    'alive',
    'memory above idle, MiB',
    'cores',
    'sender p50, ms',
    'p99',
    'max',
    'same address p99',
    'reader p99',
    'not served',
    'attacker',
  ];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n');
}

function toCells({ latencies }: Waits): string[] {
  return [
    ms(percentile(latencies, 0.5)),
    ms(percentile(latencies, 0.99)),
    ms(Math.max(0, ...latencies)),
  ];
}

function refusals({ outcomes }: Waits): number {
  return Object.entries(outcomes)
    .filter(([outcome]) => outcome !== '200' && outcome !== '202')
    .reduce((sum, [, count]) => sum + count, 0);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

function ms(value: number): string {
  return String(Math.round(value));
}

function toMebibytes(bytes: number): number {
  return Math.round(bytes / mebibyte);
}
