/** Errors of NATS as an operator of the quarantine sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JetStreamApiError } from '@nats-io/jetstream';
import { createQueueNames, type NatsLink } from './connection.ts';
import { createQuarantineMessages } from './quarantine-stream.ts';

function open(streams: Readonly<Record<string, () => Promise<unknown>>>) {
  const names = createQueueNames('weir');
  const link = { manager: { streams }, names, settings: { timeoutMs: 5000 } };
  return createQuarantineMessages(link as unknown as NatsLink);
}

function fail(name: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('raw'), { name }));
}

const notThere = () => {
  return new JetStreamApiError({ code: 404, err_code: 10059, description: 'stream not found' });
};

for (const [error, words] of [
  [fail('TimeoutError'), /cannot use the stream weir_quarantine: NATS did not respond .* 5000 ms/],
  [fail('JetStreamNotEnabled'), /cannot use the stream weir_quarantine: JetStream is not enabled/],
  [fail('Error'), /cannot use the stream weir_quarantine: raw/],
  [() => Promise.reject(notThere()), /cannot find the stream weir_quarantine .*queue\.prefix/],
] as const) {
  test(`explains: ${words.source}`, async () => {
    const messages = open({ info: error, getMessage: error, deleteMessage: error });
    await assert.rejects(messages.all().next(), words);
    await assert.rejects(messages.get(1), words);
    await assert.rejects(messages.remove(1), words);
  });
}

test('removing a missing message succeeds', async () => {
  const deleteMessage = fail('Error');
  await open({ deleteMessage, getMessage: async () => null }).remove(1);
  const left = open({ deleteMessage, getMessage: async () => ({ seq: 1 }) });
  await assert.rejects(left.remove(1), /cannot use .*raw/);
});
