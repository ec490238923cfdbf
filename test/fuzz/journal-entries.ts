/** Generates journals in the export format, and splits them into steps. */
import assert from 'node:assert/strict';
import { EntrySteps } from '../../src/protocols/json-logs/journal/entry-steps.ts';
import type { Random } from '../harness/random.ts';
import type { Words } from './damage-text.ts';

export const journalWords: Words = [
  '\n',
  '\n\n',
  '=',
  'MESSAGE=',
  'MESSAGE\n',
  'PRIORITY=3\n',
  '__CURSOR=s=1;i=2\n',
  '__REALTIME_TIMESTAMP=1795341600123456\n',
  'a\n\x01\0\0\0\0\0\0\0x\n',
  'a\n\xff\xff\xff\xff\xff\xff\xff\xff',
  '__proto__=1\n',
];

export function journalEntries(random: Random, records: number): Buffer {
  const entries = Array.from({ length: random.integer(1, records) }, (_, n) => [
    `__CURSOR=s=1;i=${n}\n__REALTIME_TIMESTAMP=17953416001234${n % 90}\n`,
    random.pick(['MESSAGE=größer\n', 'MESSAGE=\n', '', '_HOSTNAME=a\nPRIORITY=3\n']),
    random.pick(['', dataField('MESSAGE', 'two\nlines'), dataField('A', 'x'.repeat(300))]),
    random.pick(['', 'A=1\nA=2\n', `B=${'y'.repeat(300)}\n`, '_SYSTEMD_UNIT=shop.service\n']),
    '\n',
  ]);
  return Buffer.from(entries.flat().join(''));
}

function dataField(name: string, data: string): string {
  const length = Buffer.alloc(8);
  length.writeUInt32LE(Buffer.byteLength(data));
  return `${name}\n${length.toString('latin1')}${data}\n`;
}

const limits = { bytes: 500, entries: 3, elapsedMs: 1, fieldBytes: 100, entryBytes: 300 };
const mostStepBytes = 500 + 300 + 300;

/** The steps of a journal must not depend on how its bytes arrive, and have bounded bytes. */
export function stepsOf(input: Buffer): string[] {
  const whole = split(input, input.length);
  assert.deepEqual(split(input, 7), whole);
  return whole;
}

function split(input: Buffer, chunkBytes: number): string[] {
  const steps: string[] = [];
  let reader = open();
  let step: Buffer[] = [];
  for (let from = 0; from < input.length; from += chunkBytes) {
    for (let rest = input.subarray(from, from + chunkBytes); rest.length > 0; ) {
      const { kept, end } = reader.push(rest);
      step.push(kept);
      rest = rest.subarray(end ?? rest.length);
      if (end === undefined) continue;
      steps.push(Buffer.concat(step).toString('latin1'));
      reader = open();
      step = [];
    }
  }
  steps.push(Buffer.concat(step).toString('latin1'));
  for (const { length } of steps) assert.ok(length <= mostStepBytes, `${length} bytes are kept`);
  return steps;
}

function open(): EntrySteps {
  return new EntrySteps(limits, () => 0);
}
