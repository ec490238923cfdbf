/** Fills and fails the disk of each folder under load. */
import { runCrashTest } from '../crash/run.ts';
import { type Observation, openDiskStage } from './disk-stage.ts';

interface Options {
  readonly rounds: number;
  /** Part of the names of faults. */
  readonly match: string;
  readonly seed: number;
  readonly say: (row: string) => void;
}

/** @returns one sentence per lost or duplicated event */
export async function runDiskFaults({ rounds, match, seed, say }: Options): Promise<string[]> {
  const stage = await openDiskStage(match);
  const kills = rounds * stage.targets.length;
  const report = await runCrashTest({ stage, kills, seed, say: () => {} });
  say('| fault | answers meanwhile | said | ending |\n|---|---|---|---|');
  for (const observation of stage.observations) say(toRow(observation));
  const { acknowledged, unanswered, faults } = report;
  say(`\n${acknowledged} events acknowledged, ${unanswered} unanswered, ${faults.length} faults`);
  const silent = stage.observations
    .filter(({ said }) => said.length === 0)
    .map(({ fault }) => `${fault}: silent`);
  return [...faults, ...silent];
}

function toRow({ fault, answers, said, ending }: Observation): string {
  return `| ${fault} | ${answers} | ${said.join('; ') || 'nothing'} | ${ending} |`;
}
