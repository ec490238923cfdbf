/**
 * `npm run bench -- --scaled`: the scaled-out set beside the embedded one, the same work on the
 * same machine in one run, with ratios.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from '../machine.ts';
import { type MeasureOptions, measureSet, type PhaseFigures, type SetFigures } from './measure.ts';
import { openEmbedded, openScaled } from './sets.ts';

const opens = [
  openEmbedded,
  () => openScaled(1, 1),
  () => openScaled(2, 1),
  () => openScaled(2, 3),
];

export async function benchScaled(options: MeasureOptions, isKept: boolean): Promise<void> {
  const all: SetFigures[] = [];
  for (const open of opens) {
    const set = await open();
    console.error(`bench: ${set.name}`);
    try {
      all.push(await measureSet(set, options));
    } finally {
      await set.stop();
    }
  }
  const markdown = toMarkdown(all, options);
  console.log(markdown);
  if (isKept) keep(markdown);
}

/** Sections under other headings are written by hand and stay. */
function keep(markdown: string): void {
  const file = new URL('./RESULTS.md', import.meta.url);
  const before = readFileSync(file, 'utf8');
  const further = before.indexOf('\n## ');
  writeFileSync(file, further < 0 ? markdown : markdown + before.slice(further));
}

function toMarkdown(all: readonly SetFigures[], options: MeasureOptions): string {
  const { seconds, seed } = options;
  const asked = whole(options.rate);
  const row = (name: string, cell: (figures: SetFigures) => string) =>
    `| ${[name, ...all.map(cell)].join(' | ')} |`;
  const [base] = all;
  const ratio = (value: number, of: number | undefined) =>
    `(× ${(value / (of ?? value)).toFixed(2)})`;
  const rated = (figures: SetFigures, of: 'singles' | 'burst' | 'steady') => {
    const { eventsPerSecond: rate, refused } = figures[of];
    const more = refused > 0 ? `, ${refused} refused` : '';
    return `${whole(rate)}/s ${ratio(rate, base?.[of].eventsPerSecond)}${more}`;
  };
  const acks = ({ ackMs }: PhaseFigures) => `${ackMs.p50.toFixed(1)} / ${ackMs.p99.toFixed(0)} ms`;
  return [
    '# Scaled-out set compared with one embedded process',
    '',
    `\`npm run bench -- --scaled --seconds ${seconds} --rate ${options.rate} --seed ${seed}\` on ` +
      `${describeMachine()}, ${new Date().toISOString().slice(0, 10)}. All servers, nodes and ` +
      'the load generator share the machine, so this measures the overhead of the components, ' +
      'not the gain from several machines. All acknowledged events were readable at the end.',
    '',
    `| | ${all.map(({ name }) => name).join(' | ')} |`,
    `| --- | ${all.map(() => '---').join(' | ')} |`,
    row('readable after acknowledgement, idle (p50 / max)', ({ readable }) => {
      return `${readable.p50.toFixed(0)} / ${readable.max.toFixed(0)} ms`;
    }),
    row('single events, 64 connections', (figures) => rated(figures, 'singles')),
    row('acknowledgement of these (p50 / p99)', ({ singles }) => acks(singles)),
    row(`${asked} events/s offered, batches of 1,000`, (figures) => rated(figures, 'steady')),
    row('acknowledgement of these (p50 / p99)', ({ steady }) => acks(steady)),
    row('CPU time per event', ({ steady }) => processors(steady)),
    row('inserts into the store', ({ steady: { inserts } }) => {
      return `${inserts.perSecond.toFixed(1)}/s of ${whole(inserts.rowsEach)} rows`;
    }),
    row(
      'readable after acknowledgement, under this load (p50 / max)',
      ({ readableUnderLoad: ms }) => {
        return `${ms.p50.toFixed(0)} / ${ms.max.toFixed(0)} ms`;
      },
    ),
    row('burst, batches of 1,000', (figures) => rated(figures, 'burst')),
    row('all events readable after', ({ caughtUpSeconds }) => `${caughtUpSeconds.toFixed(1)} s`),
    '',
  ].join('\n');
}

function processors({ cpuMicros }: PhaseFigures): string {
  const parts = Object.entries(cpuMicros).map(([name, micros]) => `${name} ${micros.toFixed(1)}`);
  const sum = Object.values(cpuMicros).reduce((total, micros) => total + micros, 0);
  return `${sum.toFixed(1)} µs: ${parts.join(', ')}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
