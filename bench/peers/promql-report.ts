/** Answers to PromQL of several systems side by side as Markdown. Pure. */
import type { PromqlFigures } from './measure-promql.ts';
import type { SamplesPeer } from './measure-samples.ts';
import { table } from '../report.ts';
import { headingOf, millis, toVerdict, whole } from './report.ts';

export interface PromqlReport {
  readonly command: string;
  readonly machine: string;
  readonly when: string;
  readonly series: number;
  /** Samples of each series. */
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** Weir first. */
  readonly systems: readonly Pick<SamplesPeer, 'name' | 'version' | 'flags'>[];
  readonly questions: readonly PromqlFigures[];
  readonly cpuSeconds: readonly number[];
}

export function promqlMarkdown(run: PromqlReport): string {
  const { command, machine, when, series, rounds, warmUpSeconds } = run;
  const { systems, questions, cpuSeconds } = run;
  const [weir, ...peers] = systems;
  const rows = questions.map(({ question, systems: [own, ...others] }) => [
    question,
    ...[own!, ...others].map(({ p50Ms, minMs }) => `${millis(p50Ms)} (${millis(minMs)})`),
    ...others.map(({ p50Ms }) => toVerdict(own!.p50Ms, p50Ms, 'less')),
    `${whole(own!.series)} / ${whole(own!.values)}`,
    ...others.map(({ difference }) => agreement(difference)),
  ]);
  const ahead = (at: number) => {
    const isAhead = ({ systems: [own, ...others] }: PromqlFigures) =>
      own!.p50Ms <= others[at]!.p50Ms * 1.05;
    return questions.filter(isAhead).length;
  };
  return [
    headingOf('promql'),
    '',
    `\`${command}\` on ${machine}, ${when}.`,
    `${whole(series)} series with ${whole(rounds)} samples each, 15 s apart, loaded in the same ` +
      'order; every question by turns, 15 rounds with other series or times, after all were ' +
      `asked for ${warmUpSeconds} s each.`,
    '',
    ...systems.map(({ name, version, flags }, at) => {
      const cpu = `CPU time while asked: ${cpuSeconds[at]!.toFixed(1)} s`;
      return `- ${name} ${version}; flags: ${flags}. ${cpu}.`;
    }),
    ...peers.map(({ name }, at) => {
      return `- At or ahead of ${name} in ${ahead(at)} of ${questions.length} questions.`;
    }),
    '',
    ...table(
      [
        'question, p50 (min)',
        ...systems.map(({ name }) => name),
        ...peers.map(({ name }) => `than ${name}, ${weir!.name} is`),
        'series / values',
        ...peers.map(({ name }) => `same as ${name}`),
      ],
      rows,
    ),
    '',
    ...questions.map(({ question, query }) => `- ${question}: \`${query}\``),
    '',
  ].join('\n');
}

function agreement(difference: number): string {
  if (Number.isNaN(difference)) return 'other series or times';
  return difference <= 1e-9 ? 'yes' : `within ${difference.toExponential(0)}`;
}
