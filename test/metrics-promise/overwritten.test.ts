/**
 * One sample overwritten repeatedly while processes are killed: the value read at the end is the
 * last acknowledged one or a later one in flight, never an earlier one replayed by recovery.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readMetrics, remoteWrite } from '../harness/metrics.ts';
import { toNumber, toSample } from '../harness/prompb.ts';
import { createRandom } from '../harness/random.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';

const seed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const kills = Number(process.env['WEIR_RUNS'] ?? 4);
const random = createRandom(seed);
const sampleMs = Date.now();

let service: Service;
before(async () => {
  service = await startService({ expectedErrors: [/engine ended/, /EngineStartError/] });
});
after(() => service.stop());

function write(value: number) {
  const labels = { __name__: 'overwritten' };
  return remoteWrite(service, [{ labels, samples: [toSample(sampleMs, value)] }]);
}

/** Sends values sequentially until one gets no answer. */
async function writeUntilCut(
  from: number,
): Promise<{ acknowledged: number | undefined; sent: number }> {
  let acknowledged: number | undefined;
  for (let value = from + 1; ; value += 1) {
    // The connection broke: the sample may be stored.
    const answer = await write(value).catch(() => undefined);
    if (answer === undefined) return { acknowledged, sent: value };
    assert.equal(answer.status, 204, answer.text);
    acknowledged = value;
  }
}

test('no earlier value reappears', async (t) => {
  t.diagnostic(`seed ${seed}`);
  // A kill may come before any answer, so that the value read before it remains.
  assert.equal((await write(0)).status, 204);
  let [stored, last] = [0, 0];
  for (let kill = 0; kill < kills; kill += 1) {
    const writing = writeUntilCut(last);
    await new Promise((resolve) => setTimeout(resolve, random.integer(50, 900)));
    for (const pid of random.next() < 0.5 ? service.enginePids() : []) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, random.integer(0, 300)));
    await service.kill('SIGKILL');
    const { acknowledged = stored, sent } = await writing;
    await service.start();
    const isDrained = async () => (await service.metric('weir_queue_batches')) === 0;
    await until(isDrained, { what: 'the queue to drain' });
    const [series] = await readMetrics(service, { __name__: 'overwritten' });
    const values = series?.samples.map(({ bits }) => toNumber(bits)) ?? [];
    assert.equal(values.length, 1);
    const allowed = values[0] === acknowledged || values[0] === sent;
    assert.ok(allowed, `kill ${kill}: ${values.join()} is read, ${acknowledged} was acknowledged`);
    [stored, last] = [values[0]!, sent];
  }
});
