/**
 * The figures of one run as Markdown. It knows what was aimed at, and says where a figure falls
 * short.
 */
import type { Ceiling } from './ceiling.ts';
import type { IngestFigures } from './ingest.ts';
import type { Percentiles } from './percentiles.ts';
import type { QueryFigures } from './queries.ts';

export interface Results {
  readonly command: string;
  readonly machine: string;
  readonly when: string;
  readonly seed: number;
  readonly burst: IngestFigures;
  readonly sustained: IngestFigures;
  readonly limit: IngestFigures;
  readonly singles: IngestFigures;
  readonly ceilings: Readonly<Record<string, Ceiling>>;
  readonly readableIdle: Percentiles;
  readonly readableUnderLoad: Percentiles;
  readonly rows: number;
  readonly bytesOnDiskPerRawByte: number;
  readonly peakMemoryBytes: { readonly gateway: number; readonly engine: number };
  readonly queries: readonly QueryFigures[];
}

export function toMarkdown(results: Results): string {
  return [
    '# Benchmark results',
    '',
    `\`${results.command}\` on ${results.machine}, ${results.when}, seed ${results.seed}.`,
    'Service, engine and load generator share the machine; every acknowledgement was synced.',
    '',
    '## In',
    '',
    ...ingestTable(results),
    '',
    ...resourceTable(results),
    '',
    `## Out, over ${count(results.rows)} rows`,
    '',
    ...table(
      ['query', 'p50', 'p99', 'aim (p50)'],
      results.queries.map(({ name, ms }) => [name, millis(ms.p50), millis(ms.p99), queryAim(name)]),
    ),
    '',
  ].join('\n');
}

function ingestTable({ burst, sustained, limit, singles, ceilings }: Results): string[] {
  const loads = [
    ['sustained, batches of 1,000', sustained, '150,000'],
    ['as much as the store takes, batches of 1,000', limit, ''],
    ['burst, batches of 1,000', burst, '300,000'],
    ['single events, 64 connections', singles, '10,000'],
  ] as const;
  const rows = loads.map(([name, figures, aim]) => [
    name,
    count(figures.eventsPerSecond),
    aim,
    count(figures.storedPerSecond),
    figures.megabytesPerSecond.toFixed(1),
    `${millis(figures.ackMs.p50)} / ${millis(figures.ackMs.p99)}`,
    `${micros(figures.cpuMicrosPerEvent.gateway)} + ${micros(figures.cpuMicrosPerEvent.engine)}` +
      ` + ${micros(figures.cpuMicrosPerEvent.generator)}`,
    `${count(figures.backlog.first)} → ${count(figures.backlog.last)}` +
      ` (most ${count(figures.backlog.most)})`,
    count(figures.refused),
  ]);
  const limits = Object.entries(ceilings).map(([name, ceiling]) => [
    `ceiling: ${name}`,
    count(ceiling.eventsPerSecond),
    '',
    '',
    ceiling.megabytesPerSecond.toFixed(1),
    '',
    micros(ceiling.cpuMicrosPerEvent),
    '',
    '',
  ]);
  const head = [
    'load',
    'events/s acknowledged',
    'aim',
    'rows/s stored',
    'MB/s',
    'ack p50 / p99',
    'CPU µs per event: gateway + engine + generator',
    'backlog in rows, first → last',
    'refused requests',
  ];
  return table(head, [...rows, ...limits]);
}

function resourceTable(results: Results): string[] {
  const { readableIdle, readableUnderLoad, peakMemoryBytes } = results;
  return table(
    ['figure', 'value', 'aim'],
    [
      ['readable after acknowledgement, idle (p50 / max)', spread(readableIdle), '< 300 ms'],
      ['readable after acknowledgement, load (p50 / max)', spread(readableUnderLoad), '< 2 s'],
      ['bytes on disk per raw byte', results.bytesOnDiskPerRawByte.toFixed(3), ''],
      ['peak memory of the gateway', mebibytes(peakMemoryBytes.gateway), '< 400 MB'],
      ['peak memory of the engine', mebibytes(peakMemoryBytes.engine), '< 2 GB'],
    ],
  );
}

function queryAim(name: string): string {
  if (/^(search, rare|label filter \()/.test(name)) return '< 200 ms';
  return /^(list, first page of 100|histogram, 60|facet by)/.test(name) ? '< 50 ms' : '';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

const spread = ({ p50, max }: Percentiles) => `${millis(p50)} / ${millis(max)}`;
const millis = (value: number) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const micros = (value: number) => value.toFixed(2);
const count = (value: number) => Math.round(value).toLocaleString('en-US');
const mebibytes = (value: number) => `${(value / 1e6).toFixed(0)} MB`;
