/** Requests sent again, with and without a key, and their quota charges. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { postWriteRequest, pushText, readSamples } from '../harness/metrics.ts';
import { encodeWriteRequest, toSample, type WrittenSeries } from '../harness/prompb.ts';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
before(async () => {
  service = await startService({ flags: ['--metrics-max-series-per-account', '40'] });
});
after(() => service.stop());

const nowMs = Date.now();

function write(series: readonly WrittenSeries[], key?: string) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return postWriteRequest(service, encodeWriteRequest(series), headers);
}

const one = (name: string, value: number): WrittenSeries[] => [
  { labels: { __name__: name }, samples: [toSample(nowMs, value)] },
];

async function eventually(name: string, wanted: [number, number][]): Promise<void> {
  await drained();
  assert.deepEqual(await readSamples(service, { __name__: name }), wanted);
}

async function drained(): Promise<void> {
  while ((await service.metric('weir_queue_batches')) !== 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a repeated write does not undo a later one, also after a restart', async () => {
  assert.equal((await write(one('again', 1), 'k1')).status, 204);
  assert.equal((await write(one('again', 2))).status, 204);
  const replayed = await write(one('again', 1), 'k1');
  assert.deepEqual([replayed.status, replayed.headers['idempotency-replayed']], [204, 'true']);
  await eventually('again', [[nowMs, 2]]);
  await service.kill('SIGKILL');
  await service.start();
  const last = await write(one('again', 1), 'k1');
  assert.deepEqual([last.status, last.headers['idempotency-replayed']], [204, 'true']);
  await eventually('again', [[nowMs, 2]]);
  assert.equal((await write(one('again', 3), 'k1')).status, 400);
});

test('a repeated push without timestamps is one sample', async () => {
  for (let times = 0; times < 3; times += 1) {
    const answer = await pushText(service, 'pushed 1\n', { 'idempotency-key': 'k2' });
    assert.equal(answer.status, 202);
  }
  await drained();
  const samples = await readSamples(service, { __name__: 'pushed' });
  assert.deepEqual(
    samples.map(([, value]) => value),
    [1],
  );
});

test('a replayed answer repeats its rejections', async () => {
  const series = [...one('partly', 1), { labels: { no: 'name' }, samples: [toSample(nowMs, 1)] }];
  const first = await write(series, 'k3');
  const second = await write(series, 'k3');
  assert.deepEqual([first.status, second.status], [400, 400]);
  assert.equal(second.text, first.text);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  await eventually('partly', [[nowMs, 1]]);
});

test('charges quotas only for what is stored', async () => {
  const { receiverId } = service.quickstart.receivers.prometheus;
  const limits = { eventsPerSecond: 1, burstEvents: 1000 };
  assert.equal((await service.admin('PATCH', `/receivers/${receiverId}`, { limits })).status, 200);
  const remaining = (headers: Readonly<Record<string, unknown>>) =>
    Number(/;r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
  const start = remaining((await write(one('quota', 1))).headers);
  assert.ok(start > 0, `${start}`);
  const many = Array.from({ length: 60 }, (_, i) => `many{i="${i}"} 1\n`).join('');
  assert.equal((await pushText(service, many)).status, 429, 'over the limit of series');
  assert.equal((await pushText(service, 'quota 1\nquota bad\n')).status, 400);
  const samples = Array.from({ length: 100 }, (_, i) => toSample(nowMs + i, i));
  const partly = [
    { labels: { __name__: 'quota' }, samples },
    { labels: { no: 'name' }, samples },
  ];
  assert.equal((await write(partly, 'k4')).status, 400);
  assert.equal((await write(partly, 'k4')).status, 400);
  const end = remaining((await write(one('quota', 2))).headers);
  // One per second is refilled.
  assert.ok(start - end >= 101 - 60 && start - end <= 101, `${start} - ${end}`);
});
