/** Figures of a run as Markdown, with targets and shortfalls. */
import type { Ceiling } from './ceiling.ts';
import type { IngestFigures } from './ingest.ts';
import type { Percentiles } from './percentiles.ts';
import type { QueryFigures } from './queries.ts';
import type { SampleBytes } from './sample-bytes.ts';
import type { WayIn } from './ways-in.ts';

export interface Results extends LogResults {
  readonly waysIn: readonly WayIn[];
  readonly decoders: Readonly<Record<string, Ceiling>>;
  readonly sampleBytes: readonly SampleBytes[];
}

/** Plain JSON logs and their reads. */
export interface LogResults {
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
    'Service, engine and load generator share the machine; every acknowledgement follows an fsync.',
    '',
    '## Ingest',
    '',
    ...ingestTable(results),
    '',
    ...resourceTable(results),
    '',
    '## Ingest by protocol',
    '',
    'One after another, each once the search indexes of the one before are built; compared with ' +
      'plain JSON of the same run.',
    '',
    ...waysInTable(results),
    '',
    ...decodersTable(results),
    '',
    ...sampleBytesTable(results),
    '',
    `## Reads over ${count(results.rows)} rows`,
    '',
    ...queriesTable(results.queries),
    '',
  ].join('\n');
}

export function queriesTable(queries: readonly QueryFigures[]): string[] {
  const rows = queries.map(({ name, ms, cpuMs }) => [
    name,
    millis(ms.p50),
    millis(ms.p99),
    millis(cpuMs),
    queryTarget(name),
  ]);
  return table(['query', 'p50', 'p99', 'CPU', 'target (p50)'], rows);
}

function ingestTable({ burst, sustained, limit, singles, ceilings }: Results): string[] {
  const loads = [
    ['sustained, batches of 1,000', sustained, '150,000'],
    ['maximum of the store, batches of 1,000', limit, ''],
    ['burst, batches of 1,000', burst, '300,000'],
    ['single events, 64 connections', singles, '10,000'],
  ] as const;
  const rows = loads.map(([name, figures, target]) => ingestRow(name, figures, target));
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
  return table(ingestHead, [...rows, ...limits]);
}

const ingestHead = [
  'load',
  'events/s acknowledged',
  'target',
  'rows/s stored',
  'MB/s',
  'ack p50 / p99',
  'CPU µs per event: gateway + engine + generator',
  'backlog in rows, first → last',
  'refused requests',
];

function ingestRow(name: string, figures: IngestFigures, target: string): string[] {
  const { cpuMicrosPerEvent: cpu, backlog } = figures;
  return [
    name,
    count(figures.eventsPerSecond),
    target,
    count(figures.storedPerSecond),
    figures.megabytesPerSecond.toFixed(1),
    `${millis(figures.ackMs.p50)} / ${millis(figures.ackMs.p99)}`,
    `${micros(cpu.gateway)} + ${micros(cpu.engine)} + ${micros(cpu.generator)}`,
    `${count(backlog.first)} → ${count(backlog.last)} (most ${count(backlog.most)})`,
    count(figures.refused),
  ];
}

export function waysInTable({ waysIn }: Pick<Results, 'waysIn'>): string[] {
  const plain = waysIn[0]?.figures.eventsPerSecond ?? Number.NaN;
  const rows = waysIn.map(({ name, events, figures }) => {
    const ratio = (figures.eventsPerSecond / plain).toFixed(2);
    const least = name.startsWith('OTLP protobuf') ? 0.8 : 0.5;
    const ofSamples = name.startsWith('remote_write') ? '500,000' : '';
    const target = events === 'logs' ? `of JSON ${ratio}, target ${least}` : ofSamples;
    return ingestRow(name, figures, target);
  });
  return table(ingestHead, rows);
}

function decodersTable({ decoders }: Results): string[] {
  const rows = Object.entries(decoders).map(([name, ceiling]) => [
    name,
    count(ceiling.eventsPerSecond),
    ceiling.megabytesPerSecond.toFixed(0),
    micros(ceiling.cpuMicrosPerEvent),
    name.startsWith('text') ? '100 MB/s' : '',
  ]);
  return table(['decoder only, one core', 'events/s', 'MB/s', 'CPU µs per event', 'target'], rows);
}

function sampleBytesTable({ sampleBytes }: Results): string[] {
  const rows = sampleBytes.map(({ kind, samples, inserted, merged }) => [
    kind,
    count(samples),
    inserted.toFixed(2),
    merged.toFixed(2),
    kind === 'the mix' ? '< 2' : '',
  ]);
  const head = [
    'samples of',
    'stored',
    'bytes per sample, after background merges',
    'merged into one part',
  ];
  return table([...head, 'target'], rows);
}

function resourceTable(results: Results): string[] {
  const { readableIdle, readableUnderLoad, peakMemoryBytes } = results;
  return table(
    ['figure', 'value', 'target'],
    [
      ['readable after acknowledgement, idle (p50 / max)', spread(readableIdle), '< 300 ms'],
      ['readable after acknowledgement, load (p50 / max)', spread(readableUnderLoad), '< 2 s'],
      ['bytes on disk per raw byte', results.bytesOnDiskPerRawByte.toFixed(3), ''],
      ['peak memory of the gateway', mebibytes(peakMemoryBytes.gateway), '< 400 MB'],
      ['peak memory of the engine', mebibytes(peakMemoryBytes.engine), '< 2 GB'],
    ],
  );
}

function queryTarget(name: string): string {
  if (/^(search, rare|label filter \()/.test(name)) return '< 200 ms';
  if (/a label/.test(name)) return '< 150 ms';
  if (/^(patterns|compare)/.test(name)) return '< 700 ms';
  return /^(list, first page of 100|histogram, 60|facet by)/.test(name) ? '< 50 ms' : '';
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

const spread = ({ p50, max }: Percentiles) => `${millis(p50)} / ${millis(max)}`;
const millis = (value: number) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const micros = (value: number) => value.toFixed(2);
const count = (value: number) => Math.round(value).toLocaleString('en-US');
const mebibytes = (value: number) => `${(value / 1e6).toFixed(0)} MB`;
