/** An export of large logs takes bounded memory of gateway and engine. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { memoryBytes } from './watch.ts';

const mebibyte = 1024 * 1024;
const sizes = Array.from({ length: 30 }, (_, i) => (1 + (i % 8)) * mebibyte);
const maxGrowthBytes = { gateway: 300 * mebibyte, engine: 512 * mebibyte };

let service: Service;
before(async () => {
  service = await startService();
  for (const [i, size] of sizes.entries()) {
    const message = `${i} `.padEnd(size, 'lorem ipsum "dolor" ');
    const answer = await service.postLogs([{ message }]);
    assert.equal(answer.status, 202, answer.text);
  }
  await until(async () => (await service.facet('severity')).total === sizes.length, {
    what: 'all logs to be readable',
  });
});
after(() => service.stop());

test('an export takes bounded memory', { skip: process.platform !== 'linux' }, async () => {
  const [engine] = service.enginePids();
  const pids = { gateway: service.process.pid, engine: engine! };
  const idle = { gateway: resetPeak(pids.gateway), engine: resetPeak(pids.engine) };
  const received = await downloadExport();
  const sent = sizes.reduce((sum, size) => sum + size);
  assert.ok(received > sent, `${received} of ${sent} bytes`);
  for (const process of ['gateway', 'engine'] as const) {
    const grown = memoryBytes(pids[process], 'VmHWM') - idle[process];
    assert.ok(grown < maxGrowthBytes[process], `the ${process} grew by ${grown / mebibyte} MiB`);
  }
});

/** Resets the peak memory of a process. @returns its memory, in bytes */
function resetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return memoryBytes(pid, 'VmHWM');
}

/** @returns the size of an export of all logs */
async function downloadExport(): Promise<number> {
  const { streamUrl, caFile, accessToken, accountId } = service.quickstart;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
  const options = { ca: readFileSync(caFile), headers, agent: false };
  request(`${streamUrl}/api/v1/logs/export`, options, (response) => {
    let received = 0;
    response.on('data', (chunk: Buffer) => (received += chunk.length));
    response.on('end', () => resolve(received));
    response.on('error', reject);
  })
    .on('error', reject)
    .end();
  return promise;
}
