/** Generates messages of protocols without HTTP. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { joinFrames, SyslogFrames } from '../../src/protocols/syslog/frames.ts';
import { encode } from '@msgpack/msgpack';
import type { Random } from '../harness/random.ts';
import type { Words } from './damage-text.ts';

export const syslogWords: Words = [
  '<13>',
  '<999>',
  '<13>1 ',
  ' - ',
  '[',
  ']',
  '"',
  '\\"',
  '[a@1 b="c"]',
  '[weir token="wri_x"]',
  '\n',
  '\0',
  '\ufeff',
  '999999999 <',
  '4 <',
  'Feb 29 10:00:00 ',
  '2026-11-20T10:00:00Z ',
  '__proto__',
];

const headers = [
  '<34>1 2003-10-11T22:14:15.003Z host su - ID47 - ',
  '<165>1 - - - - - [a@1 b="c" d="\\"\\]"][e] ',
  '<13>Oct 11 22:14:15 host app[17]: ',
  '<13>Oct 11 2026 22:14:15.123 +02:00 app: ',
  '<189>17: *Mar  1 18:46:11.123: %SYS-5-CONFIG_I: ',
  '<13>2026-11-20T10:00:00.123456+01:00 host app: ',
  '<13>',
  '',
] as const;

/** Octet-counted, as ingest gets them. */
export function syslogMessages(random: Random, records: number): Buffer {
  const frames = Array.from({ length: random.integer(1, records) }, () => {
    const text = random.pick(['x', 'größer', '\ufefftext', 'x'.repeat(200), '{"a":1}', '']);
    return Buffer.from(random.pick(headers) + text);
  });
  return joinFrames(frames);
}

/** The messages of a connection must not depend on how its bytes arrive. */
export function framesOf(input: Buffer): string[] {
  const split = (at: number) => {
    const reader = new SyslogFrames(100);
    const parts = [input.subarray(0, at), input.subarray(at)];
    const frames = parts.flatMap((part) => reader.push(part));
    assert.ok(reader.partialBytes <= 120, `${reader.partialBytes} bytes are kept`);
    return [...frames, reader.end() ?? ''].map((frame) => frame.toString('latin1'));
  };
  const whole = split(input.length);
  assert.deepEqual(split(input.length >> 1), whole);
  return whole;
}

/** Messages of Fluent Forward, in each of its modes. */
export function forwardMessages(random: Random, records: number): Buffer {
  const list = Array.from({ length: random.integer(1, records) }, () => [
    random.pick([0, 1_700_000_000, 1_700_000_000.5]),
    {
      [random.pick(['message', 'log', 'cpu'])]: random.pick(['x', 'größer', 7, null]),
      nested: { list: [1, -1, 2 ** 40, 1.5, true, { deep: 'x'.repeat(random.integer(0, 300)) }] },
    },
  ]);
  const packed = Buffer.concat(list.map((entry) => encode(entry)));
  const options = { chunk: 'p8n9gmxTQVC8', size: list.length };
  const message = random.pick<unknown>([
    ['app', ...list[0]!],
    ['app', list, options],
    ['app', packed, options],
    ['app', gzipSync(packed, { level: 1 }), { ...options, compressed: 'gzip' }],
  ]);
  return Buffer.from(encode(message));
}
