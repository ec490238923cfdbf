/** Reads events from bytes, however the network cuts them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents } from './event-stream.ts';

test('reads bytes cut anywhere, also within a character', async () => {
  const bytes = new TextEncoder().encode(
    'event: log\r\nid: 7\r\ndata: é👩\r\n\r\n:\n\ndata: b\n\n',
  );
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const events = [];
    const body = bodyOf([bytes.slice(0, cut), bytes.slice(cut)]);
    for await (const some of readEvents(body)) events.push(...some);
    assert.deepEqual(events, [
      { event: 'log', data: 'é👩', id: '7' },
      { event: undefined, data: 'b', id: undefined },
    ]);
  }
});

test('yields the events of a chunk together', async () => {
  const chunks = ['data: a\n\ndata: b\n\nda', 'ta: c\n\n'];
  const counts = [];
  const body = bodyOf(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  for await (const events of readEvents(body)) counts.push(events.length);
  assert.deepEqual(counts, [2, 1]);
});

function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
