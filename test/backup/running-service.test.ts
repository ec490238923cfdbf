/**
 * Backups under load, through kills of the engine, the service and the backup: each has everything
 * acknowledged before, once.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { createAccessToken, createReceiver } from '../harness/control.ts';
import { readSamples } from '../harness/metrics.ts';
import { Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startWeir, type WeirProcess } from '../harness/weir-process.ts';
import { assertExactlyOnce, countStored, type Load, startLoad } from './backup-load.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

// Small segments, so that some are freed while they are copied.
const flags = ['--queue-segment-bytes', '1048576'];
// Errors of the killed engine.
const expectedErrors = [/engine ended/, /cannot start the engine/, /housekeeping failed/];
let service: Service;
const folder = temporaryFolder();
before(async () => {
  service = await startService({ flags, arePortsKept: true, expectedErrors });
});
after(async () => {
  await service.stop();
});

function newPath(name: string): string {
  return join(folder, `${name}-${Math.random().toString(36).slice(2)}`);
}

function beginBackup(destination: string): WeirProcess {
  return startWeir(['backup', destination, '--data', service.dataDir]);
}

async function succeed(command: WeirProcess): Promise<void> {
  const { code } = await command.exited;
  assert.equal(code, 0, command.logs.map(({ raw }) => raw).join('\n'));
}

/** A service started on a restored backup; removed with the test. */
async function startCopy(t: TestContext, source: string): Promise<Service> {
  const dataDir = newPath('restored');
  await succeed(startWeir(['restore', source, '--data', dataDir]));
  const copy = new Service(dataDir, { flags });
  t.after(() => copy.stop());
  await copy.start();
  return copy;
}

async function untilBusy(load: Load): Promise<void> {
  const known = load.acknowledged().length;
  await until(() => load.acknowledged().length > known + 80 && load.pushed() > 10, {
    what: 'load',
  });
}

test('a backup has everything acknowledged before, despite an engine kill', async (t) => {
  const { token } = await createAccessToken(service, ['logs:read', 'metrics:read']);
  const receiver = await createReceiver(service);
  const key = { 'idempotency-key': 'once' };
  const first = await service.postLogs({ message: 'keyed' }, key);
  const load = startLoad(service);
  t.after(() => load.stop());
  await untilBusy(load);

  const [acknowledged, pushed] = [load.acknowledged(), load.pushed()];
  const source = newPath('backup');
  for (const pid of service.enginePids()) process.kill(pid, 'SIGKILL');
  await succeed(beginBackup(source));
  await load.stop();
  const copy = await startCopy(t, source);

  assertExactlyOnce(await countStored(copy), acknowledged);
  const samples = await readSamples(copy, { __name__: 'pushes', of: 'backup' });
  const values = samples.map(([, value]) => value);
  assert.deepEqual(
    values.slice(0, pushed + 1),
    Array.from({ length: pushed + 1 }, (_, i) => i),
  );
  assert.equal((await copy.postLogs({ message: 'keyed' }, key)).text, first.text);
  assert.equal((await copy.facet('severity', { search: '"keyed"' })).total, 1);
  assert.equal((await copy.admin('GET', `/receivers/${receiver.receiverId}`)).status, 200);
  const whoami = await copy.http.send(`${copy.quickstart.streamUrl}/api/v1/logs?limit=1`, {
    headers: { authorization: `Bearer ${token}`, 'x-active-account': copy.quickstart.accountId },
  });
  assert.equal(whoami.status, 200, whoami.text);
  const authority = (of: Service) => readFileSync(of.quickstart.caFile, 'utf8');
  assert.equal(authority(copy), authority(service));

  // The same event and time: only batch ids differ.
  const event = { message: 'side by side', timestamp: '2026-01-01T00:00:00Z' };
  const ids = [];
  for (const each of [service, copy]) {
    assert.equal((await each.postLogs(event)).status, 202);
    const found = await until(async () => (await each.list({ search: '"side by side"' })).logs[0], {
      what: 'the event',
    });
    ids.push(found.logId);
  }
  assert.notEqual(ids[0], ids[1]);
});

test('a backup survives a kill of the service, and the service a kill of the backup', async (t) => {
  // Large, so that the copy is still running at the kill.
  const filler = join(service.dataDir, 'tls', 'filler.pem');
  writeFileSync(filler, '');
  truncateSync(filler, 4 * 1024 ** 3);
  t.after(() => rmSync(filler, { force: true }));
  const source = newPath('backup');
  const copied = join(`${source}.partial`, 'data/tls/filler.pem');
  const isCopying = () => (statSync(copied, { throwIfNoEntry: false })?.size ?? 0) > 0;

  const killed = beginBackup(source);
  await until(isCopying, { what: 'the backup to run' });
  killed.kill('SIGKILL');
  assert.equal((await killed.exited).signal, 'SIGKILL');
  assert.ok(!existsSync(source), 'half a backup has no name');
  assert.ok(existsSync(join(service.dataDir, 'queue/backup')));

  // A quick one, which must not mistake the killed backup for a running one.
  truncateSync(filler, 128 * 1024 ** 2);
  truncateSync(copied, 0);
  const backup = beginBackup(source);
  const isUnderWay = () => isCopying() || existsSync(source);
  await until(isUnderWay, { what: 'the backup to run' });
  await service.kill('SIGKILL');
  await succeed(backup);
  assert.ok(existsSync(source), 'the backup must not depend on the service');
  assert.ok(!existsSync(`${source}.partial`));
  rmSync(filler);

  // No service runs on the directory.
  const offline = newPath('backup');
  await succeed(beginBackup(offline));
  await service.start();
  assert.ok(!existsSync(join(service.dataDir, 'queue/backup')));
  const copy = await startCopy(t, offline);
  const [ofOriginal, ofCopy] = [await countStored(service), await countStored(copy)];
  assert.deepEqual(ofCopy, ofOriginal);
});
