/** Stage of a process with several workers, any of which is killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/until.ts';
import { workersOf } from '../harness/weir-process.ts';
import { openSingleStage, type SingleStageOptions } from './single-stage.ts';
import type { Stage } from './stage.ts';

export async function openWorkersStage(
  workers: number,
  options: SingleStageOptions = {},
): Promise<Stage> {
  const flags = [...(options.flags ?? []), '--workers', String(workers)];
  const stage = await openSingleStage({ ...options, flags });
  const { service } = stage;
  const findWorkers = (): readonly [number, ...number[]] | undefined => {
    const [first, ...others] = workersOf(service.process.pid);
    return first === undefined ? undefined : [first, ...others];
  };
  return {
    ...stage,
    targets: [...stage.targets, 'worker', 'worker', 'worker'],
    async strike(target, random) {
      if (target !== 'worker') return stage.strike(target, random);
      await sleep(random.integer(0, 600));
      const pids = await until(findWorkers, { what: 'a worker to kill' });
      process.kill(random.pick(pids), 'SIGKILL');
    },
  };
}
