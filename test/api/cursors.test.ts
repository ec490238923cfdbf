/**
 * Cursors skip and repeat nothing, in both directions: with a thousand logs in one millisecond, and
 * during ingest.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinService } from '../harness/joined-service.ts';
import type { LogPage, Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

const nil = '00000000-0000-0000-0000-000000000000';

type Position = LogPage['cursor'];
type Log = LogPage['logs'][number];

const encode = ({ timestamp, logId }: Position) => `${timestamp},${logId}`;

/** Pages towards older logs until one is empty. */
async function walkOlder(parameters: Parameters): Promise<Log[]> {
  const walked: Log[] = [];
  let page = await service.list(parameters);
  while (page.logs.length > 0) {
    walked.push(...page.logs);
    page = await service.list({ ...parameters, cursor: encode(page.cursor) });
  }
  return walked;
}

/** Pages towards newer logs until one is empty. */
async function walkNewer(parameters: Parameters, from: Position): Promise<Log[]> {
  const walked: Log[] = [];
  let page = await service.list({ ...parameters, since: encode(from) });
  while (page.logs.length > 0) {
    walked.unshift(...page.logs);
    page = await service.list({ ...parameters, since: encode(page.cursor) });
  }
  return walked;
}

/** Posts a batch every few ms until stopped; resolves to the accepted messages. */
function keepPosting(name: string, timestamp?: string): { stop(): Promise<string[]> } {
  let isStopping = false;
  const messages: string[] = [];
  const run = async () => {
    for (let batch = 0; !isStopping; batch++) {
      const events = Array.from({ length: 1 + (batch % 7) }, (_, index) => ({
        message: `${name} ${batch} ${index}`,
        service_name: name,
        ...(timestamp === undefined ? {} : { timestamp }),
      }));
      const answer = await service.postLogs(events);
      assert.equal(answer.status, 202, answer.text);
      messages.push(...events.map(({ message }) => message));
      await sleep(2);
    }
    return messages;
  };
  const running = run();
  return {
    stop: () => {
      isStopping = true;
      return running;
    },
  };
}

suite('a thousand logs in the same millisecond', () => {
  const timestamp = '2026-02-02T02:02:02.222Z';
  const messages = Array.from({ length: 1_000 }, (_, index) => `same ${index}`);

  before(async () => {
    for (let from = 0; from < messages.length; from += 250) {
      const events = messages.slice(from, from + 250);
      await service.postLogs(
        events.map((message) => ({ message, timestamp, service_name: 'same' })),
      );
    }
    await until(
      async () => (await service.facet('severity', { serviceName: 'same' })).total === 1_000,
      { what: 'a thousand logs to be readable' },
    );
  });

  for (const limit of [1_000, 77]) {
    test(`pages of ${limit} show each once, in one total order, both ways`, async () => {
      const noise = keepPosting(`noise-${limit}`);
      const older = await walkOlder({ serviceName: 'same', limit });
      const oldest = { timestamp: '1970-01-01T00:00:00.000Z', logId: nil };
      const newer = await walkNewer({ serviceName: 'same', limit }, oldest);
      await noise.stop();
      assert.deepEqual(older.map(({ message }) => message).sort(), [...messages].sort());
      assert.deepEqual(newer, older);
      const ids = older.map(({ logId }) => logId);
      assert.deepEqual(ids, [...ids].sort().reverse(), 'logs must be in descending order of logId');
    });
  }

  test('pages are stable while logs of the same millisecond arrive', async () => {
    const before_ = await walkOlder({ serviceName: 'same', limit: 100 });
    const noise = keepPosting('late', timestamp);
    const during = await walkOlder({ serviceName: 'same', limit: 100 });
    await noise.stop();
    assert.deepEqual(during, before_);
  });
});

test('pollers with since miss and repeat nothing under concurrent ingest', async () => {
  const { newest } = await service.list({ limit: 1 });
  const senders = ['red', 'green', 'blue', 'grey'].map((name) => keepPosting(name));
  const last = 'the end';
  const poll = async (limit: number) => {
    const seen: string[] = [];
    let position = newest;
    const reachesEnd = async () => {
      const page = await service.list({ limit, since: encode(position) });
      seen.push(...page.logs.map(({ message }) => message).reverse());
      position = page.cursor;
      return seen.includes(last);
    };
    await until(reachesEnd, { what: 'the last log', everyMs: 5 });
    return seen;
  };
  const pollers = [7, 100, 1_000].map(poll);
  await until(async () => (await service.facet('severity', { serviceName: 'grey' })).total > 150, {
    what: '150 grey logs',
  });
  const sent = (await Promise.all(senders.map((sender) => sender.stop()))).flat();
  // Received last: a poller that has it has passed all others.
  await service.postLogs([{ message: last, service_name: 'end' }]);
  for (const seen of await Promise.all(pollers)) {
    const ours = seen.filter((message) => /^(red|green|blue|grey) /.test(message));
    assert.deepEqual([...ours].sort(), [...sent].sort());
  }
});
