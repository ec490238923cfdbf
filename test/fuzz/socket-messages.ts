/** Generates messages of protocols without HTTP. */
import assert from 'node:assert/strict';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { DelimitedFrames } from '../../src/codec/delimited-frames.ts';
import { GelfDatagrams } from '../../src/protocols/json-logs/gelf/gelf-frames.ts';
import { Aggregation } from '../../src/protocols/statsd/aggregation.ts';
import { joinFrames, SyslogFrames } from '../../src/protocols/json-logs/syslog/frames.ts';
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
  const split = (bytes: number) => {
    const reader = new SyslogFrames(100);
    const frames: Buffer[] = [];
    for (let at = 0; at < input.length; at += bytes) {
      frames.push(...reader.push(input.subarray(at, at + bytes)));
    }
    assert.ok(reader.partialBytes <= 120, `${reader.partialBytes} bytes are kept`);
    return [...frames, reader.end() ?? ''].map((frame) => frame.toString('latin1'));
  };
  const whole = split(input.length);
  for (const bytes of [1, 7, 150]) assert.deepEqual(split(bytes), whole);
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
    ['app', zstdCompressSync(packed), { ...options, compressed: 'zstd' }],
  ]);
  return Buffer.from(encode(message));
}

/** Messages of GELF as over TCP, of which some are compressed or parts as in datagrams. */
export function gelfMessages(random: Random, records: number): Buffer {
  const messages = Array.from({ length: random.integer(1, records) }, (_, n) => {
    const text = random.pick(['x', 'größer', 'x'.repeat(200)]);
    const message = Buffer.from(JSON.stringify({ short_message: text, _n: n }));
    const head = Buffer.from([0x1e, 0x0f, 0, 0, 0, 0, 0, 0, 0, n % 3, n % 2, 2]);
    return random.pick([
      message,
      gzipSync(message, { level: 1 }),
      deflateSync(message),
      Buffer.concat([head, message]),
    ]);
  });
  return Buffer.concat(messages.flatMap((message) => [message, Buffer.from([0])]));
}

/** The messages must not depend on how bytes arrive, nor be longer than the limit. */
export function gelfFramesOf(input: Buffer): string[] {
  const maxBytes = 100;
  const split = (at: number) => {
    const reader = new DelimitedFrames(maxBytes, 0);
    const frames = [input.subarray(0, at), input.subarray(at)].flatMap((part) => {
      const messages = reader.push(part);
      assert.ok(reader.partialBytes <= maxBytes, `${reader.partialBytes} bytes are kept`);
      return messages;
    });
    return [...frames, reader.end() ?? Buffer.alloc(0)];
  };
  const whole = split(input.length);
  assert.deepEqual(split(input.length >> 1), whole);
  const datagrams = new GelfDatagrams(
    maxBytes,
    () => 0,
    () => {},
  );
  for (const frame of whole) {
    const bytes = datagrams.add(frame, 'a')?.length ?? 0;
    assert.ok(bytes <= Math.max(maxBytes, frame.length) + maxBytes, `a message of ${bytes} bytes`);
  }
  return whole.map((frame) => frame.toString('latin1'));
}

export const statsdWords: Words = [
  ':',
  '|',
  '|c',
  '|ms',
  '|s',
  '|@0.1',
  '|@1e-300',
  '|#a:b,c:d',
  '|#__name__:x,le:1',
  '\\',
  '"',
  '1e308',
  '-',
  'größer',
  '\n',
];

export function statsdLines(random: Random, records: number): Buffer {
  const lines = Array.from({ length: random.integer(1, records) }, () => {
    const name = random.pick(['a', 'a.b', 'http-requests', '7up', 'größer']);
    const value = random.pick(['1', '-2.5', '+3', '1:2:3', 'ann', '1e9']);
    const type = random.pick(['c', 'g', 'ms', 'h', 'd', 's']);
    const tags = random.pick(['', '|#env:prod,zone:"b', '|@0.5|#a.b:\\', '|#,:,x:']);
    return `${name}:${value}|${type}${tags}`;
  });
  return Buffer.from(lines.join('\n'));
}

/** An exposition of any lines. */
export function expositionOf(input: Buffer): Buffer {
  const labels = { maxLabels: 64, maxLabelNameLength: 1024, maxLabelValueLength: 8192 };
  const aggregation = new Aggregation({ maxSeries: 100, forgetAfterMs: 1000, labels });
  for (const line of input.toString().split('\n')) aggregation.add(line, 0);
  return Buffer.concat(aggregation.flush(1));
}
