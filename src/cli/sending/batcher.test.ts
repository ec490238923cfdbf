/** Batches and their limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Batch, Batcher, halve, type OutgoingEvent, toBody } from './batcher.ts';

const limits = { maxEvents: 4, maxBytes: 30 };

test('puts every event into one batch, in order, within the limits', () => {
  const lengths = fc.array(fc.nat(40), { maxLength: 60 });
  fc.assert(
    fc.property(lengths, (sizes) => {
      const events = sizes.map((size, index) => event(index, '"'.padEnd(size + 1, 'x')));
      const batches = batch(events);
      assert.deepEqual(
        batches.flatMap((one) => one.events),
        events,
      );
      for (const one of batches) {
        assert.ok(one.events.length <= limits.maxEvents);
        assert.ok(one.events.length === 1 || toBody(one).length <= limits.maxBytes + 2);
      }
    }),
  );
});

test('joins the events to a JSON array', () => {
  const [one] = batch([event(1, '{"a":"€"}'), event(2, '{}')]);
  assert.ok(one);
  assert.deepEqual(JSON.parse(toBody(one).toString()), [{ a: '€' }, {}]);
});

test('halves a batch in order, ordered only with untimed events', () => {
  const events = [event(1, '1', true), event(2, '2', true), event(3, '3')];
  const [whole] = batch(events);
  assert.ok(whole);
  assert.equal(whole.isOrdered, true);
  const [first, second] = halve(whole);
  assert.deepEqual([...first.events, ...second.events], events);
  assert.deepEqual([first.isOrdered, second.isOrdered], [false, true]);
});

function batch(events: readonly OutgoingEvent[]): Batch[] {
  const batcher = new Batcher(limits);
  const full = events.flatMap((one) => batcher.add(one) ?? []);
  return [...full, ...[batcher.take() ?? []].flat()];
}

function event(line: number, json: string, isTimed = false): OutgoingEvent {
  return { json, isTimed, line, endOffset: line * 10 };
}
