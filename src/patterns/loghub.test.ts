/**
 * Grouping accuracy over the labelled logs of LogHub (https://github.com/logpai/loghub): the share
 * of logs whose template has exactly the logs of their event. `LOGHUB` is the folder of a clone.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCsv } from '../../test/harness/csv.ts';
import { maxMessageLength } from './describe.ts';
import { mineTemplates } from './mine.ts';
import { mask, variableRun } from './tokens.ts';

/** Ours with one configuration for all, and Drain's with one for each (Zhu et al., ICSE 2019). */
const accuracies: Readonly<Record<string, readonly [ours: number, drains: number]>> = {
  HDFS: [0.998, 0.998],
  Hadoop: [0.972, 0.948],
  Spark: [0.998, 0.92],
  Zookeeper: [0.991, 0.967],
  OpenStack: [1, 0.733],
  BGL: [0.969, 0.963],
  HPC: [0.874, 0.887],
  Thunderbird: [0.706, 0.955],
  Windows: [1, 0.997],
  Linux: [0.871, 0.69],
  Mac: [0.853, 0.787],
  Android: [0.933, 0.911],
  HealthApp: [1, 0.78],
  Apache: [1, 1],
  OpenSSH: [1, 0.788],
  Proxifier: [0.516, 0.527],
};

const folder = process.env['LOGHUB'];
const options = { skip: folder === undefined && 'LOGHUB is not set' };

for (const [set, [expected]] of Object.entries(accuracies)) {
  test(`groups the logs of ${set}`, options, async () => {
    const accuracy = await accuracyOf(readLogs(set));
    assert.ok(accuracy > expected - 0.001, `${accuracy.toFixed(3)}, was ${expected}`);
  });
}

interface LabelledLog {
  readonly message: string;
  readonly event: string;
}

function readLogs(set: string): LabelledLog[] {
  const text = readFileSync(join(folder!, set, `${set}_2k.log_structured.csv`), 'utf8');
  const [head, ...rows] = readCsv(`${text.trimEnd().replaceAll(/\r?\n/g, '\r\n')}\r\n`);
  const [message, event] = [head!.indexOf('Content'), head!.indexOf('EventId')];
  return rows.map((row) => ({ message: row[message]!, event: row[event]! }));
}

async function accuracyOf(logs: readonly LabelledLog[]): Promise<number> {
  const run = new RegExp(variableRun, 'g');
  const groups = [
    ...Map.groupBy(logs, (log) => log.message.slice(0, maxMessageLength).replaceAll(run, mask)),
  ].map(([masked, members]) => ({ masked, members, count: members.length }));
  const sizes = Map.groupBy(logs, ({ event }) => event);
  let right = 0;
  for (const { members } of await mineTemplates(groups)) {
    const found = members.flatMap((member) => groups[member]!.members);
    const { event } = found[0]!;
    const isPure = found.every((log) => log.event === event);
    if (isPure && found.length === sizes.get(event)!.length) right += found.length;
  }
  return right / logs.length;
}
