/** Two peers side by side as Markdown; a loss of Weir is shown as a loss. Pure. */
import type { PeerFigures } from './measure.ts';
import type { SamplesFigures } from './measure-samples.ts';
import { table } from '../report.ts';

export interface PeersRun {
  readonly corpus: string;
  readonly description: string;
  readonly command: string;
  readonly machine: string;
  readonly when: string;
  readonly rows: number;
  readonly corpusBytes: number;
  readonly weir: PeerFigures;
  readonly peer: PeerFigures;
}

export function toMarkdown(run: PeersRun): string {
  const { weir, peer, rows, corpusBytes } = run;
  return [
    headingOf(run.corpus),
    '',
    `\`${run.command}\` on ${run.machine}, ${run.when}.`,
    `${whole(rows)} logs, ${megabytes(corpusBytes)} of JSON over 24 hours: ${run.description}.`,
    '',
    ...[weir, peer].flatMap(({ name, version, flags, acknowledgement }) => [
      `- ${name} ${version}; flags: ${flags}. Acknowledgement: ${acknowledgement}.`,
    ]),
    '',
    ...table([`load`, weir.name, peer.name, `${weir.name} is`], loadRows(weir, peer)),
    '',
    ...table(
      ['question, p50 (min)', weir.name, peer.name, `${weir.name} is`, 'rows or counts'],
      questionRows(weir, peer),
    ),
    '',
    `The fastest form of each question in ${peer.name}, with the values of the last round:`,
    '',
    ...peer.answers.map(({ question, form }) => `- ${question}: \`${form}\``),
    '',
  ].join('\n');
}

export interface SamplesRun {
  readonly command: string;
  readonly machine: string;
  readonly when: string;
  readonly rows: number;
  readonly weir: SamplesFigures;
  readonly peer: SamplesFigures;
}

export function samplesMarkdown({ command, machine, when, rows, weir, peer }: SamplesRun): string {
  const both = [weir.peer, peer.peer];
  const row = (
    name: string,
    better: Better,
    read: (figures: SamplesFigures) => number,
    format: (value: number) => string,
  ) => [name, format(read(weir)), format(read(peer)), toVerdict(read(weir), read(peer), better)];
  const micros = (value: number) => `${value.toFixed(2)} µs`;
  const bytes = (value: number) => value.toFixed(2);
  return [
    headingOf('samples'),
    '',
    `\`${command}\` on ${machine}, ${when}.`,
    `${whole(rows)} samples of 10,000 series, 15 s apart, by remote_write: 60 % counters, ` +
      '25 % integer gauges, 15 % random walks.',
    '',
    ...both.map(
      ({ name, version, flags, acknowledgement }) =>
        `- ${name} ${version}; flags: ${flags}. Acknowledgement: ${acknowledgement}.`,
    ),
    '',
    ...table(
      ['load', ...both.map(({ name }) => name), `${weir.peer.name} is`],
      [
        row('acknowledged samples/s', 'more', (one) => one.acknowledgedPerSecond, whole),
        row('stored samples/s', 'more', (one) => one.storedPerSecond, whole),
        row('acknowledgement p50', 'less', (one) => one.ackMs.p50, millis),
        row('acknowledgement p99', 'less', (one) => one.ackMs.p99, millis),
        row('CPU time per sample until stored', 'less', (one) => one.cpuMicros.stored, micros),
        row('CPU time per sample until settled', 'less', (one) => one.cpuMicros.settled, micros),
        row('peak memory', 'less', (one) => one.peakMemoryBytes, megabytes),
        row('bytes per sample right after', 'less', (one) => one.bytes.stored, bytes),
        row('bytes per sample settled', 'less', (one) => one.bytes.settled, bytes),
        ['refused requests', whole(weir.refused), whole(peer.refused), ''],
      ],
    ),
    '',
  ].join('\n');
}

function loadRows(weir: PeerFigures, peer: PeerFigures): string[][] {
  const row = (
    name: string,
    better: Better,
    read: (figures: PeerFigures) => number,
    format: (value: number) => string,
  ) => [name, format(read(weir)), format(read(peer)), toVerdict(read(weir), read(peer), better)];
  const seconds = (value: number) => `${value.toFixed(1)} s`;
  return [
    row('acknowledged events/s', 'more', (one) => one.acknowledgedPerSecond, whole),
    row('readable events/s', 'more', (one) => one.readablePerSecond, whole),
    row('acknowledgement p50', 'less', (one) => one.ackMs.p50, millis),
    row('acknowledgement p99', 'less', (one) => one.ackMs.p99, millis),
    row('CPU time until readable', 'less', (one) => one.cpuSeconds.loaded, seconds),
    row('CPU time until settled', 'less', (one) => one.cpuSeconds.settled, seconds),
    row('peak memory', 'less', (one) => one.peakMemoryBytes, megabytes),
    row('on disk right after', 'less', (one) => one.diskBytes.loaded, megabytes),
    row('on disk settled', 'less', (one) => one.diskBytes.settled, megabytes),
    ['refused requests', whole(weir.refused), whole(peer.refused), ''],
  ];
}

function questionRows(weir: PeerFigures, peer: PeerFigures): string[][] {
  return weir.answers.map(({ question, p50Ms, minMs, counts }) => {
    const other = peer.answers.find((answer) => answer.question === question);
    if (other === undefined) throw new Error(`cannot compare ${question}: ${peer.name} lacks it`);
    return [
      question,
      `${millis(p50Ms)} (${millis(minMs)})`,
      `${millis(other.p50Ms)} (${millis(other.minMs)})`,
      toVerdict(p50Ms, other.p50Ms, 'less'),
      toAgreement(counts, other.counts),
    ];
  });
}

type Better = 'more' | 'less';

/** Weir's figure compared with that of a peer; within 5 % they are equal. Infinity is a failure. */
export function toVerdict(weir: number, peer: number, better: Better): string {
  if (weir === Number.POSITIVE_INFINITY) return '**failed**';
  const ratio = better === 'more' ? weir / peer : peer / weir;
  if (!Number.isFinite(ratio) || ratio === 0) return 'not comparable';
  if (ratio > 1.05) return `${factor(ratio)} × better`;
  return ratio < 1 / 1.05 ? `**${factor(1 / ratio)} × worse**` : 'equal';
}

/** The count of the last round if all rounds agree, else the first that differs. */
export function toAgreement(weir: readonly number[], peer: readonly number[]): string {
  const at = weir.findIndex((count, round) => count !== peer[round]);
  if (at === -1 && weir.length === peer.length) return whole(weir.at(-1) ?? 0);
  const show = (count: number | undefined) =>
    count === undefined || Number.isNaN(count) ? 'failed' : whole(count);
  return `**differ: ${show(weir[at])} and ${show(peer[at])}**`;
}

/** Replaces the section of this corpus and size or appends it; the rest of the file stays. */
export function replaceSection(file: string, corpus: string, section: string): string {
  const heading = `${headingOf(corpus)}\n`;
  const from = file.indexOf(heading);
  if (from === -1) return `${file.trimEnd()}\n\n${section}`;
  const next = file.indexOf('\n## ', from);
  const rest = next === -1 ? '' : file.slice(next);
  return file.slice(0, from) + (rest === '' ? section : `${section.trimEnd()}\n${rest}`);
}

export const headingOf = (corpus: string) => `## Corpus ${corpus}`;

function factor(value: number): string {
  if (value > 1_000) return 'over 1,000';
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
export function millis(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'failed';
  return `${value < 100 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

const megabytes = (value: number) => `${whole(value / 1e6)} MB`;
