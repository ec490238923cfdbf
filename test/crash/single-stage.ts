/**
 * Stage of a single process: kills or suspends the process, its engine or its workers, also during
 * a start.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../harness/random.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { childrenOf, startWeir } from '../harness/weir-process.ts';
import { freePort } from '../senders/program.ts';
import type { FakeClock } from './fake-clock.ts';
import type { Stage } from './stage.ts';

export interface SingleStageOptions {
  readonly flags?: readonly string[];
  readonly clock?: FakeClock | undefined;
}

/** Longer than the timeouts after which a silent process counts as dead. */
const maxPauseMs = 6_000;
const hourSeconds = 3_600;

export async function openSingleStage(options: SingleStageOptions = {}): Promise<Stage> {
  const { flags = [], clock } = options;
  const engine = [/engine ended/, /EngineStartError/, /housekeeping failed/, /engine hangs/];
  const reads = [/cannot read/, /cannot insert/, /drain cannot insert/, /request failed/];
  const workers = [/worker ended/, /cannot start worker/, /worker.*silent/];
  const allFlags = [...flags];
  const service = await startService({
    flags: allFlags,
    // Full at once, so that the next is sent while one is inserted.
    env: { WEIR_DRAIN_MAX_ROWS: '200', ...clock?.env },
    expectedErrors: [...engine, ...reads, ...workers],
  });
  // The first run creates the receiver.
  await service.kill('SIGTERM');
  allFlags.push(...(await socketFlags(service)));
  await service.start();
  const strikes: Readonly<Record<string, (random: Random) => Promise<void>>> = {
    async gateway() {
      await service.kill('SIGKILL');
      await service.start();
    },
    async engine() {
      const pids = await until(() => nonEmpty(service.enginePids()), { what: 'an engine' });
      for (const pid of pids) signal(pid, 'SIGKILL');
    },
    async start(random) {
      await service.kill('SIGKILL');
      service.launch();
      await sleep(random.integer(0, 1_500));
      await service.kill('SIGKILL');
      await service.start();
    },
    async everything() {
      const children = childrenOf(service.process.pid);
      const ended = service.kill('SIGKILL');
      for (const pid of children) signal(pid, 'SIGKILL');
      await ended;
      await service.start();
    },
    async 'paused gateway'(random) {
      const pid = service.process.pid;
      signal(pid, 'SIGSTOP');
      await sleep(random.integer(50, maxPauseMs / 2));
      signal(pid, 'SIGCONT');
      if (random.next() < 0.5) await strikes['gateway']?.(random);
    },
    async 'paused engine'(random) {
      const pids = await until(() => nonEmpty(service.enginePids()), { what: 'an engine' });
      for (const pid of pids) signal(pid, 'SIGSTOP');
      await sleep(random.integer(50, maxPauseMs));
      const isKilled = random.next() < 0.5;
      if (isKilled) await service.kill('SIGKILL');
      // A start on the directory of a suspended engine is refused with its pid.
      for (const pid of pids) signal(pid, 'SIGCONT');
      if (isKilled) await service.start();
    },
    'second start': () => startSecond(service),
    ...(clock === undefined
      ? {}
      : {
          async clock(random) {
            clock.set(random.pick([-hourSeconds, 0, hourSeconds]));
            await sleep(random.integer(0, 2_000));
            if (random.next() < 0.5) await strikes['gateway']?.(random);
          },
        }),
  };
  const names = Object.keys(strikes);
  return {
    service,
    quickstartFile: join(service.dataDir, 'quickstart.json'),
    hasSockets: true,
    targets: ['gateway', 'engine', 'engine', ...names],
    async strike(target, random) {
      await sleep(random.integer(0, 600));
      await strikes[target]?.(random);
    },
    async ready() {
      await until(() => service.isReady(), { what: '/readyz after the last kill' });
    },
    close: () => service.stop(),
  };
}

/**
 * Ports that last through restarts and that no connection takes as its own: while Weir is down, a
 * connection to a port of the ephemeral range may be one to itself, which reads what it has sent.
 */
async function socketFlags({ quickstart }: Service): Promise<string[]> {
  const [syslog, forward] = await Promise.all([freePort(), freePort()]);
  const { receiverId } = quickstart.receivers.http_json;
  return [
    '--syslog-tcp',
    `127.0.0.1:${syslog}`,
    '--forward-tcp',
    `127.0.0.1:${forward}`,
    '--forward-receiver',
    receiverId,
  ];
}

/** @throws Error when a second process starts on the data directory of a running one */
async function startSecond({ dataDir }: Service): Promise<void> {
  const ports = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];
  const second = startWeir(['serve', '--data', dataDir, ...ports]);
  const exit = await Promise.race([second.exited, sleep(20_000)]);
  if (exit === undefined) second.kill('SIGKILL');
  const isRefused = exit?.code === 1 && second.logs.some(({ raw }) => /holds it/.test(raw));
  if (isRefused) return;
  const said = second.logs.map(({ raw }) => raw).join('\n');
  throw new Error(`a second start on ${dataDir} was not refused: ${JSON.stringify(exit)}\n${said}`);
}

/** The process may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
