/** Parses event streams as the standard says, for every chunk boundary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStreamParser, readEvents, type ServerEvent } from './event-stream.ts';

const cases: readonly (readonly [string, string, readonly ServerEvent[]])[] = [
  ['one event', 'event: log\nid: 7\ndata: {}\n\n', [{ name: 'log', data: '{}', id: '7' }]],
  ['without a name', 'data: a\n\n', [{ name: 'message', data: 'a', id: '' }]],
  ['data of several lines', 'data: a\ndata:\ndata: b\n\n', [event('a\n\nb')]],
  ['only the first space is dropped', 'data:  a\n\n', [event(' a')]],
  ['no space at all', 'data:a\n\n', [event('a')]],
  ['a field without a colon', 'data\n\n', [event('')]],
  ['comments', ': hello\ndata: a\n:\n\n', [event('a')]],
  ['unknown fields', 'retry: 10\nfoo: bar\ndata: a\n\n', [event('a')]],
  ['CR LF', 'event: x\r\ndata: a\r\n\r\n', [{ name: 'x', data: 'a', id: '' }]],
  ['CR alone', 'data: a\rdata: b\r\rdata: c\n\n', [event('a\nb'), event('c')]],
  ['a byte order mark', '\uFEFFdata: a\n\n', [event('a')]],
  ['nothing without data', 'event: x\n\ndata: a\n\n', [event('a')]],
  ['an unfinished event', 'data: a\n\ndata: b\n', [event('a')]],
  [
    'an id stays',
    'id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n',
    [event('a', '1'), event('b', '1'), event('c')],
  ],
  ['an id with NUL is no id', 'id: 1\nid: 2\0\ndata: a\n\n', [event('a', '1')]],
  ['other writing', 'data: שלום 👩🏽‍💻\n\n', [event('שלום 👩🏽‍💻')]],
];

for (const [name, text, expected] of cases) {
  test(`reads ${name}, cut anywhere`, () => {
    assert.deepEqual(parse([text]), expected);
    assert.deepEqual(parse(text.split('')), expected);
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.deepEqual(parse(pieces), expected, JSON.stringify(pieces));
      }
    }
  });
}

test('reads bytes cut within a character', async () => {
  const bytes = new TextEncoder().encode('data: é👩\n\ndata: b\n\n');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, cut));
        controller.enqueue(bytes.slice(cut));
        controller.close();
      },
    });
    const events: ServerEvent[] = [];
    for await (const some of readEvents(body)) events.push(...some);
    assert.deepEqual(events, [event('é👩'), event('b')]);
  }
});

test('reads a long line from many chunks in linear time', () => {
  const piece = 'x'.repeat(1000);
  const parser = new EventStreamParser();
  parser.push('data: ');
  for (let count = 0; count < 2000; count += 1) assert.deepEqual(parser.push(piece), []);
  const [found] = parser.push('\n\n');
  assert.equal(found?.data.length, 2_000_000);
});

function event(data: string, id = ''): ServerEvent {
  return { name: 'message', data, id };
}

function parse(pieces: readonly string[]): ServerEvent[] {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => parser.push(piece));
}
