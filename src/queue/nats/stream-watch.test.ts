/** The watch while streams are missing; `test/scaled` covers real servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import { until } from '../../../test/harness/until.ts';
import { createQueueNames, type NatsLink } from './connection.ts';
import { errorCodes } from './faults.ts';
import { watchStreams } from './stream-watch.ts';

/** A reachable server without streams. */
function emptyLink(): NatsLink {
  const gone = { code: 404, err_code: errorCodes.streamNotFound, description: 'stream not found' };
  const lost = new AbortController().signal;
  return {
    manager: { streams: { info: async () => Promise.reject(new JetStreamApiError(gone)) } },
    names: createQueueNames('weir'),
    settings: { shards: 1 },
    isConnected: () => true,
    lost: () => lost,
  } as unknown as NatsLink;
}

test('closing does not wait for a restore and does not report its failure', async () => {
  const asked = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const watch = watchStreams({
    link: emptyLink(),
    alsoPoll: async () => undefined,
    telemetry: { restoreFailed: (error) => void failures.push(error) },
    restore: () => {
      asked.resolve();
      return made.promise;
    },
    contentLost: () => undefined,
  });
  await asked.promise;
  await watch.close();
  made.reject(new Error('the connection was closed'));
  await made.promise.catch(() => undefined);
  assert.deepEqual(failures, []);
});

test('reports why streams cannot be restored', async () => {
  const told = Promise.withResolvers<unknown>();
  const watch = watchStreams({
    link: emptyLink(),
    alsoPoll: async () => undefined,
    telemetry: { restoreFailed: told.resolve },
    restore: async () => Promise.reject(new Error('no room')),
    contentLost: () => undefined,
  });
  assert.match(String(await told.promise), /no room/);
  await watch.close();
});

test('notices a stream that was restored from an earlier copy', async () => {
  let lastSequence = 7;
  let losses = 0;
  const info = async () => ({ created: 'then', state: { messages: 0, last_seq: lastSequence } });
  const watch = watchStreams({
    link: { ...emptyLink(), manager: { streams: { info } } } as unknown as NatsLink,
    alsoPoll: async () => undefined,
    telemetry: { restoreFailed: assert.fail },
    restore: async () => assert.fail(),
    contentLost: () => void losses++,
  });
  lastSequence = 9;
  await sleep(1100);
  assert.equal(losses, 0);
  lastSequence = 8;
  await until(() => losses > 0, { what: 'the loss to be noticed' });
  await watch.close();
});
