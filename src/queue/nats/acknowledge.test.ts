/** Acknowledgements of a slow, a silent and a lost server. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { acknowledge } from './acknowledge.ts';

const timing = { timeoutMs: 1000, pauseMs: 1, unresponsiveMs: 500 };
const messages = Array.from({ length: 300 }, (_, index) => ({ reply: `${index}` }));

suite('acknowledging', () => {
  test('waits for a server that confirms slowly, and repeats nothing', async () => {
    const sent: string[] = [];
    let turn = Promise.resolve();
    const startedAt = performance.now();
    // One after the other, as if it synced its disk for each.
    await run((reply) => {
      sent.push(reply);
      turn = turn.then(() => sleep(5));
      return turn;
    });
    assert.ok(performance.now() - startedAt > 2 * timing.unresponsiveMs);
    assert.deepEqual(
      sent,
      messages.map(({ reply }) => reply),
    );
  });

  test('repeats what was not confirmed', async () => {
    const sent: string[] = [];
    await run(async (reply) => {
      sent.push(reply);
      if (reply === '7' && sent.indexOf('7') === sent.lastIndexOf('7')) throw new Error('timeout');
    });
    assert.equal(sent.length, messages.length + 1);
    assert.equal(new Set(sent).size, messages.length);
  });

  test('gives up when nothing is confirmed any more', async () => {
    const answer = async (reply: string) => {
      if (Number(reply) >= 150) throw new Error('no answer');
    };
    await assert.rejects(run(answer), /no answer/);
  });

  test('sends nothing once it is closed', async () => {
    const closing = new AbortController();
    const sent: string[] = [];
    const answer = async (reply: string) => {
      sent.push(reply);
      closing.abort(new Error('closed'));
      throw new Error('no answer');
    };
    await assert.rejects(run(answer, closing.signal), /closed/);
    assert.deepEqual(sent, ['0']);
  });
});

function run(
  answer: (reply: string) => Promise<unknown>,
  closing = new AbortController().signal,
): Promise<void> {
  const connection = { request: answer } as unknown as Pick<NatsConnection, 'request'>;
  return acknowledge({ connection, closing }, messages, timing);
}
