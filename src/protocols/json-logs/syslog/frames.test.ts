/** Framing of syslog connections: any way in which bytes arrive gives the same messages. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eachFrame, joinFrames, SyslogFrames } from './frames.ts';

const maxBytes = 10;

function framesOf(chunks: readonly string[]): string[] {
  const reader = new SyslogFrames(maxBytes);
  const frames = chunks.flatMap((chunk) => reader.push(Buffer.from(chunk)));
  assert.ok(reader.partialBytes <= maxBytes + 12, `${reader.partialBytes} bytes are kept`);
  const last = reader.end();
  return [...frames, ...(last === undefined ? [] : [last])].map(String);
}

const connections: readonly (readonly [string, readonly string[]])[] = [
  ['<1>a\n<1>b\r\n\n<1>c', ['<1>a', '<1>b\r', '<1>c']],
  ['4 <1>a5 <1>\nb4 <1>c', ['<1>a', '<1>\nb', '<1>c']],
  ['4 <1>a<1>b\n4 <1>c\n4 <1>d\0', ['<1>a', '<1>b', '<1>c', '<1>d']],
  // Python's SysLogHandler.
  ['<1>a\0<1>b\nc\0<1>d\n\0<1>e', ['<1>a', '<1>b\nc', '<1>d\n', '<1>e']],
  ['<1>a\nb\0<1>c\nd\n\0<1>e\n<f\n\0', ['<1>a', 'b', '<1>c\nd\n', '<1>e\n<f\n']],
  ['<1>a\n<1>b\0<1>34567890abc\0<1>c', ['<1>a', '<1>b', '<1>34567890', '<1>c']],
  ['<1>a\0<1>3456789\n<1>b\n<1>c\n', ['<1>a', '<1>3456789', '<1>b', '<1>c']],
  ['<1>a\0<1>34567890a\nbc\n<1>d\ne', ['<1>a', '<1>34567890', '<1>d', 'e']],
  ['<1>a\0<1>34567890abc\n<', ['<1>a', '<1>34567890']],
  // Line breaks end messages that follow no NUL, or have no priority.
  ['<1>a\0\n<1>b\nc\n', ['<1>a', '<1>b', 'c']],
  ['<1>a\0b\n<1>c\nd\n', ['<1>a', 'b', '<1>c', 'd']],
  ['<1>a\0<1>b\n<1>c\nd\n', ['<1>a', '<1>b', '<1>c', 'd']],
  // NUL in text without priorities.
  ['a \0 b\nline 2\n<\0\n', ['a \0 b', 'line 2', '<\0']],
  // Numbers that are no length.
  ['12 monkeys\n0 <1>\n<1>a\n', ['12 monkeys', '0 <1>', '<1>a']],
  ['1234567890 <1>a\n<1>b\n', ['1234567890 ', '<1>b']],
  // Longer than allowed: cut to one byte more.
  ['<1>34567890abc\n<1>b\n', ['<1>34567890', '<1>b']],
  ['13 <1>4567890abc4 <1>b', ['<1>4567890a', '<1>b']],
  ['999999999 <1>4567890abc', ['<1>4567890a']],
  // The connection ended within a counted message, which its sender repeats.
  ['4 <1>a4 <1', ['<1>a']],
  ['17', []],
];

suite('splits', () => {
  for (const [bytes, expected] of connections) {
    test(JSON.stringify(bytes), () => {
      assert.deepEqual(framesOf([bytes]), expected);
      assert.deepEqual(framesOf(bytes.split('')), expected, 'byte by byte');
      for (let at = 1; at < bytes.length; at += 1) {
        assert.deepEqual(framesOf([bytes.slice(0, at), bytes.slice(at)]), expected, `at ${at}`);
      }
    });
  }
});

test('an endless message needs no memory', () => {
  const reader = new SyslogFrames(maxBytes);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  assert.equal(reader.push(chunk).length, 1);
  for (let i = 0; i < 100; i += 1) assert.deepEqual(reader.push(chunk), []);
  assert.equal(reader.partialBytes, 0);
});

test('reads each byte once', () => {
  const reader = new SyslogFrames(1024 * 1024);
  reader.push(Buffer.from('<1>a\0<1>x'));
  // More than a minute if each push searched the message, or each line the push, from its start.
  const lineBreaks = Buffer.alloc(64, '\n');
  for (let i = 0; i < 6000; i += 1) assert.deepEqual(reader.push(lineBreaks), []);
  const lines = 500_000;
  assert.equal(reader.push(Buffer.from('<1>\n'.repeat(lines))).length, 1 + lines);
});

test('joined frames split into the same, whatever they contain', () => {
  const split = (body: Buffer) =>
    Array.from(eachFrame(body), ({ start, end }) => body.toString('utf8', start, end));
  const texts = ['<1>a', '', '3 <1>', '\n', 'größer'];
  assert.deepEqual(split(joinFrames(texts.map((text) => Buffer.from(text)))), texts);
  for (const text of ['no frames', '12', '1234567890 x']) {
    assert.deepEqual(split(Buffer.from(text)), [text]);
  }
  assert.deepEqual(split(Buffer.from('2 ab5 c')), ['ab', 'c']);
});
