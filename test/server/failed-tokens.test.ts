/** Delayed responses to invalid tokens do not affect clients with a valid one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { jsonResponse, type ReadRoute } from '../../src/model/read-route.ts';
import { accountId, type Edge, openEdge, secret } from './edge.ts';

const read: ReadRoute = {
  method: 'GET',
  path: '/api/v1/work',
  operationId: 'work',
  summary: 'Answers',
  scope: 'logs:read',
  query: z.strictObject({}),
  response: jsonResponse(z.object({})),
  read: () => Promise.resolve({}),
};

let edge: Edge;
before(async () => {
  edge = await openEdge({ parts: { reads: [read] } });
});
after(() => edge.close());

async function answers(outcome: string): Promise<number> {
  const text = await edge.metrics.metrics();
  const pattern = new RegExp(`authentication_failures_total{.*answer="${outcome}"} (\\d+)`, 'g');
  return [...text.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

for (const surface of ['ingest', 'stream'] as const) {
  test(`${surface}: delays or cuts off invalid tokens, not valid ones`, async (t) => {
    const url = `https://localhost:${edge.ports[surface]}`;
    const path = surface === 'ingest' ? '/v1/receivers/rcv_a/logs' : '/api/v1/work';
    const method = surface === 'ingest' ? 'POST' : 'GET';
    const guesser = connect(url, { ca: edge.ca });
    const sender = connect(url, { ca: edge.ca });
    t.after(() => {
      guesser.destroy();
      sender.destroy();
    });
    guesser.on('error', () => {});
    await Promise.all([once(guesser, 'connect'), once(sender, 'connect')]);
    const status = async (session: typeof guesser, token: string) => {
      const stream = session.request(
        {
          ':method': method,
          ':path': path,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'x-active-account': accountId,
        },
        { endStream: true },
      );
      stream.on('error', () => {});
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
      stream.resume();
      return headers[':status'];
    };
    const closed = once(guesser, 'close');
    const wrong = Array.from({ length: 90 }, (_, index) => status(guesser, `wrong_${index}`));
    const right = status(sender, surface === 'ingest' ? secret : 'wra_reader');
    assert.notEqual(await right, 401);
    assert.deepEqual(new Set(await Promise.all(wrong)), new Set([401]));
    await closed;
    assert.ok((await answers('delayed')) > 0);
    assert.ok((await answers('cut')) > 0);
    assert.notEqual(await status(sender, surface === 'ingest' ? secret : 'wra_reader'), 401);
  });
}
