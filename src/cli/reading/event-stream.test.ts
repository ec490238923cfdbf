/** The same events come out however their bytes were cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readEvents, type ServerEvent } from './event-stream.ts';

const cases: readonly [string, string, ServerEvent[]][] = [
  ['nothing', '', []],
  ['one event', 'data: a\n\n', [event('message', 'a', '')]],
  ['a named one with an id', 'event: log\nid: 7\ndata: a\n\n', [event('log', 'a', '7')]],
  ['data of two lines', 'data: a\ndata:  b\n\n', [event('message', 'a\n b', '')]],
  [
    'fields without a value',
    'data\n\ndata\ndata\n\n',
    [event('message', '', ''), event('message', '\n', '')],
  ],
  [
    'comments and unknown fields',
    ': hello\nretry: 10\nx: y\ndata: a\n\n',
    [event('message', 'a', '')],
  ],
  ['an id that outlives its event', 'id: 1\n\ndata: a\n\n', [event('message', 'a', '1')]],
  [
    'an id that is taken back',
    'id: 1\ndata: a\n\nid\ndata: b\n\n',
    [event('message', 'a', '1'), event('message', 'b', '')],
  ],
  ['an id with a NUL', 'id: 1\0\ndata: a\n\n', [event('message', 'a', '')]],
  ['a name without data', 'event: log\n\ndata: a\n\n', [event('message', 'a', '')]],
  ['an event that is never finished', 'data: a\n\ndata: b\n', [event('message', 'a', '')]],
  ['a mark of byte order', '\ufeffdata: a\n\n', [event('message', 'a', '')]],
  [
    'other ends of lines',
    'data: a\r\n\r\ndata: b\r\rdata: c\n\r\n',
    ['a', 'b', 'c'].map((data) => event('message', data, '')),
  ],
  ['text beyond ASCII', 'data: grüße 🌊\n\n', [event('message', 'grüße 🌊', '')]],
];

for (const [what, text, expected] of cases) {
  test(`${what} reads the same, cut at every place`, async () => {
    const bytes = Buffer.from(text);
    assert.deepEqual(await read([bytes]), expected);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const parts = [bytes.subarray(0, cut), bytes.subarray(cut)];
      assert.deepEqual(await read(parts), expected, `cut at ${cut}`);
    }
    assert.deepEqual(await read([...bytes].map((byte) => Uint8Array.of(byte))), expected);
  });
}

test('any text in data comes back whole, in any chunks', async () => {
  const texts = fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 });
  const end = fc.constantFrom('\n', '\r', '\r\n');
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(texts, end, sizes, async (sent, newline, chunkSizes) => {
      const stream = sent
        .map((text) =>
          text
            .split(/\r\n|\r|\n/)
            .map((line) => `data: ${line}${newline}`)
            .join(''),
        )
        .map((lines) => lines + newline)
        .join('');
      const events = await read(cutInto(Buffer.from(stream), chunkSizes));
      // Lone surrogates do not survive UTF-8, and every end of a line reads as LF.
      const expected = sent.map((text) => text.toWellFormed().replaceAll(/\r\n|\r/g, '\n'));
      assert.deepEqual(
        events.map(({ data }) => data),
        expected,
      );
    }),
  );
});

function event(type: string, data: string, lastEventId: string): ServerEvent {
  return { type, data, lastEventId };
}

async function read(chunks: readonly Uint8Array[]): Promise<ServerEvent[]> {
  return Array.fromAsync(readEvents(fromArray(chunks)));
}

async function* fromArray(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function cutInto(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length]!;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}
