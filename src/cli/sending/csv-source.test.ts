/** Converts CSV records to events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCsvSource } from './csv-source.ts';
import { Tally } from './tally.ts';

const noDefaults = {
  severity: undefined,
  serviceName: undefined,
  serviceNamespace: undefined,
  host: undefined,
  labels: new Map<string, string>(),
};

test('reads any message in quotes', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', "'", '=', ' ', 'é') });
  fc.assert(
    fc.property(cell, fc.nat(20), (message, chunkLength) => {
      const quoted = `"${message.replaceAll('"', '""')}"`;
      const { events, tally } = read(`message,kind\r\n${quoted},x\r\n"end",y\r\n`, chunkLength + 1);
      assert.equal(tally.rejected, 0);
      const first = message.replace(/^'(?=[=+\-@\n])/, '');
      assert.deepEqual(events, [
        { message: first, kind: 'x' },
        { message: 'end', kind: 'y' },
      ]);
    }),
  );
});

test('turns the columns of an export into fields of an event', () => {
  const header = 'timestamp,serviceName,message,labels,k8sPod,streamId,logId,receiverId';
  const row = `2026-11-21T00:57:00.132000000Z,shop,'=1+1,"{""q"":""2""}",p1,s,l,r`;
  assert.deepEqual(read(`${header}\n${row}\n`).events, [
    {
      timestamp: '2026-11-21T00:57:00.132000000Z',
      service_name: 'shop',
      message: '=1+1',
      labels: { q: '2' },
      'k8s.pod.name': 'p1',
    },
  ]);
});

test('reports faults with the first line of the record', () => {
  const text = 'message,labels\n"two\nlines",\nonly one\nx,nolabels\n\n"never closed\n';
  const { events, tally } = read(text);
  assert.deepEqual(events, [{ message: 'two\nlines' }]);
  assert.deepEqual(tally.takeNews(), [
    { line: 4, reason: 'it has 1 cells, and the first line 2' },
    { line: 5, reason: 'labels is not an object' },
    { line: 7, reason: 'a quote has no end' },
  ]);
  assert.equal(tally.blank, 1);
});

test('skips settled records, but reads the names of the columns', () => {
  const text = 'message\none\ntwo\n';
  assert.deepEqual(read(text, 3, text.indexOf('two')).events, [{ message: 'two' }]);
});

function read(text: string, chunkLength = 1000, settledOffset = 0) {
  const tally = new Tally();
  const source = createCsvSource(noDefaults, { tally, settledOffset });
  const bytes = Buffer.from(text);
  const events: unknown[] = [];
  const take = (found: ReturnType<typeof source.end>) => {
    for (const { json } of found) events.push(JSON.parse(json));
  };
  for (let at = 0; at < bytes.length; at += chunkLength) {
    take(source.push(bytes.subarray(at, at + chunkLength)));
  }
  take(source.end());
  return { events, tally };
}
