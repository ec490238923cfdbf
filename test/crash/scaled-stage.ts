/**
 * Stage of the scaled-out set: kills any node or NATS server, and suspends a writer beyond its
 * lease.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../harness/random.ts';
import { Service } from '../harness/service.ts';
import { toServiceNodes } from '../scaled/scaled-nodes.ts';
import { openScaledSet, type ScaledSet } from '../scaled/scaled-set.ts';
import type { Stage } from './stage.ts';

const leaseSeconds = 3;

/** Expected log messages during an outage. */
const expectedErrors = [
  /engine ended/,
  /EngineStartError/,
  /queue lost its connection/,
  /housekeeping failed/,
  /cannot/,
];

type Targets = Stage['targets'];

export const strikeTargets: Targets = [
  'gateway',
  'gateway',
  'writer',
  'writer',
  'writer paused',
  'nats',
  'engine',
  'stream',
];

/** Stops one node after the other, gracefully. */
export const restartTargets: Targets = [
  'restart gateway',
  'restart gateway',
  'restart writer',
  'restart writer',
  'restart stream',
  'restart engine',
];

export async function openScaledStage(targets = strikeTargets): Promise<Stage> {
  const flags = ['--queue-lease-seconds', String(leaseSeconds)];
  const set = await openScaledSet({ flags });
  const service = new Service(toServiceNodes(set), { expectedErrors });
  await service.start();
  await set.ready();
  const folder = mkdtempSync(join(tmpdir(), 'weir-set-'));
  const quickstartFile = join(folder, 'quickstart.json');
  writeFileSync(quickstartFile, JSON.stringify(service.quickstart));
  return {
    service,
    quickstartFile,
    targets,
    async strike(target, random) {
      await sleep(random.integer(0, 600));
      await strikeOne(set, target, random);
    },
    ready: () => set.ready(),
    async close() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const restart = /^restart /;

async function strikeOne(set: ScaledSet, target: string, random: Random): Promise<void> {
  switch (target) {
    case 'nats': {
      const server = oneOf(set.servers.nats, random);
      await server.kill();
      await sleep(random.integer(0, 500));
      await server.restart();
      return;
    }
    case 'writer paused': {
      const writer = oneOf(set.writers, random);
      writer.pause();
      await sleep(random.integer(0, 2 * leaseSeconds * 1_000));
      writer.resume();
      return;
    }
    default: {
      const role = target.replace(restart, '');
      const node = oneOf(nodesOf(set, role), random);
      if (role === target) await node.kill('SIGKILL');
      else assert.deepEqual(await node.kill('SIGTERM'), { code: 0, signal: null });
      await sleep(random.integer(0, 500));
      await node.start();
    }
  }
}

type AnyNode = ScaledSet['nodes'][number] | ScaledSet['stream'];

function nodesOf(set: ScaledSet, target: string): readonly AnyNode[] {
  if (target === 'gateway') return set.gateways;
  if (target === 'writer') return set.writers;
  return target === 'engine' ? [set.engine] : [set.stream];
}

function oneOf<T>(items: readonly T[], random: Random): T {
  return items[random.integer(0, items.length - 1)] as T;
}
