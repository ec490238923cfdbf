/** Generates messages of protocols without HTTP. */
import assert from 'node:assert/strict';
import { joinFrames, SyslogFrames } from '../../src/protocols/syslog/frames.ts';
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
