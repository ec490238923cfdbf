/** The stage of one process and its engine: each is killed, the process during a start as well. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import type { Stage } from './stage.ts';

export async function openSingleStage(flags: readonly string[] = []): Promise<Stage> {
  const engine = [/engine ended/, /EngineStartError/, /housekeeping failed/];
  const expectedErrors = [...engine, /worker ended/, /cannot start worker/];
  const service = await startService({ flags, expectedErrors });
  return {
    service,
    quickstartFile: join(service.dataDir, 'quickstart.json'),
    targets: ['gateway', 'gateway', 'engine', 'engine', 'start'],
    async strike(target, random) {
      await sleep(random.integer(0, 600));
      if (target === 'engine') {
        const pids = await until(() => nonEmpty(service.enginePids()), { what: 'an engine' });
        for (const pid of pids) process.kill(pid, 'SIGKILL');
        return;
      }
      await service.kill('SIGKILL');
      if (target === 'start') {
        service.launch();
        await sleep(random.integer(0, 1_500));
        await service.kill('SIGKILL');
      }
      await service.start();
    },
    async ready() {
      await until(() => service.isReady(), { what: '/readyz after the last kill' });
    },
    close: () => service.stop(),
  };
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
