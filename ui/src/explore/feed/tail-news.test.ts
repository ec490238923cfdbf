/** Follows a live tail through each kind of interruption. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiProblem, unreachable } from '../../api/problem.ts';
import { followTail, type OpenTail, type TailNews } from './tail-news.ts';

const times = { silenceMs: 10_000, firstRetryMs: 1, maxRetryMs: 2 };
const opened = 'event: open\nid: 1\ndata: {}\n\n';
const log = (id: string) => `event: log\nid: ${id}\ndata: {"logId":"${id}"}\n\n`;

test('reports new logs', async () => {
  const dropped = 'event: dropped\nid: 4\ndata: {"count":2,"fromTime":"a","untilTime":"b"}\n\n';
  const news = await follow([answer(opened + log('2') + log('3'), dropped), refusal(403)]);
  assert.deepEqual(news.slice(0, 4), [
    { kind: 'connecting' },
    { kind: 'open', isResumed: false },
    { kind: 'logs', logs: [{ logId: '2' }, { logId: '3' }] },
    { kind: 'dropped', dropped: { count: 2, fromTime: 'a', untilTime: 'b' } },
  ]);
});

test('resumes after the last event, whatever failed', async () => {
  const asked: string[] = [];
  const steps = [
    answer(opened + log('2')),
    () => Promise.reject(unreachable(new Error('away'))),
    refusal(503),
    answer('event: open\nid: 2\ndata: {}\n\n', log('3')),
    refusal(404),
  ];
  const news = await follow(steps, asked);
  assert.deepEqual(asked, ['', '2', '2', '2', '3']);
  assert.deepEqual(kinds(news), [
    'connecting',
    'open',
    'logs',
    'interrupted',
    'interrupted',
    'interrupted',
    'open',
    'logs',
    'interrupted',
    'refused',
  ]);
  assert.deepEqual(news[6], { kind: 'open', isResumed: true });
});

test('reconnects once when a tail ends with an error', async () => {
  const revoked = 'event: error\ndata: {"status":401,"detail":"cannot go on"}\n\n';
  const news = await follow([answer(opened + revoked), refusal(401)]);
  assert.deepEqual(kinds(news), ['connecting', 'open', 'interrupted', 'refused']);
  const interrupted = news[2] as TailNews & { kind: 'interrupted' };
  assert.equal((interrupted.error as Error).message, 'cannot go on');
});

test('treats a silent connection as dead', async () => {
  const silent: OpenTail = (_id, signal) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(opened));
        signal.addEventListener('abort', () => controller.error(new Error('aborted')));
      },
    });
    return Promise.resolve(new Response(body));
  };
  const news = await follow([silent, refusal(404)], [], { ...times, silenceMs: 5 });
  assert.deepEqual(kinds(news), ['connecting', 'open', 'interrupted', 'refused']);
});

test('ends when the consumer stops', async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  for await (const { kind } of followTail(answer(opened), controller.signal, times)) {
    seen.push(kind);
    if (kind === 'interrupted') controller.abort();
  }
  assert.deepEqual(seen, ['connecting', 'open', 'interrupted']);
});

async function follow(
  steps: readonly OpenTail[],
  asked: string[] = [],
  withTimes = times,
): Promise<TailNews[]> {
  const openTail: OpenTail = (lastEventId, signal) => {
    asked.push(lastEventId);
    return steps[asked.length - 1]!(lastEventId, signal);
  };
  const news: TailNews[] = [];
  const { signal } = new AbortController();
  for await (const one of followTail(openTail, signal, withTimes)) news.push(one);
  return news;
}

function answer(...chunks: string[]): OpenTail {
  return () => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });
    return Promise.resolve(new Response(body));
  };
}

function refusal(status: number): OpenTail {
  return () => Promise.reject(new ApiProblem(status, { detail: 'no' }));
}

function kinds(news: readonly TailNews[]): string[] {
  return news.map(({ kind }) => kind);
}
