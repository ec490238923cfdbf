/** One flood against a running service, observed by bystanders and /proc. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { memoryBytes } from '../bombs/watch.ts';
import type { Service } from '../harness/service.ts';
import { workersOf } from '../harness/weir-process.ts';
import type { Attack, Port, Tally } from './attack.ts';
import type { Order } from './attacker.ts';
import type { BystanderOrder, Witness } from './bystander.ts';
import { cpuSeconds } from './processor-time.ts';

/** Undefined = no attack, the baseline. */
export interface Flood {
  readonly attack: Attack | undefined;
  readonly port: Port;
  readonly hasToken: boolean;
}

export interface Outcome {
  readonly flood: Flood;
  readonly isAlive: boolean;
  /** Peak resident memory of all gateway processes. */
  readonly peakBytes: number;
  /** Their CPU time, as a share of one core. */
  readonly cores: number;
  /** Bystander with another address. */
  readonly elsewhere: Witness;
  /** Bystander with the attacker's address, on connections opened before. */
  readonly neighbour: Witness;
  readonly tally: Tally;
}

const sampleEveryMs = 50;
/** Time for the bystanders to connect before the flood. */
const headStartMs = 500;

export async function runFlood(service: Service, flood: Flood, seconds: number): Promise<Outcome> {
  const { quickstart } = service;
  const { pid } = service.process;
  const name = `flood-${process.hrtime.bigint()}`;
  const bystanders = [
    startBystander({ quickstart, from: '127.0.0.1', name: `${name}-elsewhere` }),
    startBystander({ quickstart, from: '127.0.0.2', name: `${name}-neighbour` }),
  ] as const;
  const watching = watchMemory(pid);
  await sleep(headStartMs);
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  const tally =
    flood.attack === undefined ? await idle(seconds) : await attack(flood, service, seconds);
  const passedSeconds = (performance.now() - startedAt) / 1000;
  const cores = (cpuSeconds(pid) - cpuBefore) / passedSeconds;
  const [elsewhere, neighbour] = await Promise.all(bystanders.map(askToStop));
  const peakBytes = watching.stop();
  const isAlive = service.process.exit() === undefined;
  return { flood, isAlive, peakBytes, cores, elsewhere: elsewhere!, neighbour: neighbour!, tally };
}

async function idle(seconds: number): Promise<Tally> {
  await sleep(1000 * seconds);
  return {};
}

async function attack(
  { attack: chosen, port, hasToken }: Flood,
  { quickstart }: Service,
  seconds: number,
): Promise<Tally> {
  const attacker = start('./attacker.ts');
  const order: Order = { attack: chosen!.name, port, hasToken, seconds, quickstart };
  attacker.send(order);
  const tally = await messageOf<Tally>(attacker);
  return tally;
}

function startBystander(order: BystanderOrder): ChildProcess {
  const child = start('./bystander.ts');
  child.send(order);
  return child;
}

async function askToStop(child: ChildProcess): Promise<Witness> {
  child.send('stop');
  return messageOf<Witness>(child);
}

function start(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
}

async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const told = once(child, 'message').then(([message]) => message as Message);
  const left = once(child, 'exit').then(() => {
    throw new Error('a process of the flood ended before it reported its result');
  });
  left.catch(() => undefined);
  return Promise.race([told, left]);
}

/** The main process and its workers; the engine has a separate limit. */
export function gatewayBytes(pid: number): number {
  let sum = 0;
  for (const one of [pid, ...workersOf(pid)]) {
    try {
      sum += memoryBytes(one, 'VmRSS');
    } catch {
      // It has ended.
    }
  }
  return sum;
}

function watchMemory(pid: number) {
  let peakBytes = gatewayBytes(pid);
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, gatewayBytes(pid));
  }, sampleEveryMs);
  return {
    stop(): number {
      clearInterval(timer);
      return peakBytes;
    },
  };
}
