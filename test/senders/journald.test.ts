/** systemd-journal-upload sends a journal, is killed, and sends it again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { missing, type Program, startProgram } from './program.ts';
import { dataField } from '../harness/journal-field.ts';

process.env['PATH'] += ':/lib/systemd';
const uploader = 'systemd-journal-upload';
const collector = 'systemd-journal-remote';
const count = 40_000;

let service: Service;
let folder: string;

function entryOf(host: string, n: number): string {
  const time = 1_795_341_600_000_000 + n;
  const text = `__REALTIME_TIMESTAMP=${time}\n__MONOTONIC_TIMESTAMP=${n + 1}\n_BOOT_ID=${boot}\n`;
  const message = n === 7 ? dataField('MESSAGE', 'two\nlines') : `MESSAGE=message ${n}\n`;
  return `${text}_HOSTNAME=${host}\nSYSLOG_IDENTIFIER=shop\nPRIORITY=4\nN=${n}\n${message}\n`;
}

const boot = '0123456789abcdef0123456789abcdef';

/** A journal file, made as on a host that collects journals. */
async function writeJournal(file: string, host: string, from: number, to: number): Promise<void> {
  const args = [`--output=${file}`, '--split-mode=none', '-'];
  const child = spawn(collector, args, {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const closed = new Promise((resolve) => child.once('close', resolve));
  for (let n = from; n < to; n += 1) child.stdin.write(entryOf(host, n));
  child.stdin.end();
  assert.equal(await closed, 0, said);
}

function upload(file: string, state: string): Program {
  const { quickstart } = service;
  const { receiverId, token } = quickstart.receivers.http_json;
  const url = new URL(quickstart.ingestUrl);
  return startProgram(uploader, [
    `--url=https://weir:${token}@${url.host}/v1/receivers/${receiverId}/journal`,
    '--key=-',
    '--cert=-',
    `--trust=${quickstart.caFile}`,
    `--file=${file}`,
    '--follow=no',
    `--save-state=${state}`,
  ]);
}

const storedOf = async (host: string) => (await service.facet('service', { host })).total;

suite('journald', { skip: missing(uploader, 'systemd-journal-remote') }, () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-journald-'));
    service = await startService();
  });
  after(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('fields become those of a log', async () => {
    const file = join(folder, 'few.journal');
    await writeJournal(file, 'few', 0, 10);
    const program = upload(file, join(folder, 'few.state'));
    assert.deepEqual(await program.exited, { code: 0, signal: null }, program.output());
    await until(async () => (await storedOf('few')) === 10, { what: 'the entries' });
    const { logs } = await service.list({ host: 'few', label: 'N:7' });
    assert.equal(logs.length, 1);
    const [log] = logs;
    assert.equal(log?.message, 'two\nlines');
    assert.equal(log.severity, 'WARNING');
    assert.equal(log.serviceName, 'shop');
    assert.equal(log.timestamp, '2026-11-22T10:00:00.000Z');
    assert.deepEqual(log.labels, { _BOOT_ID: boot, N: '7' });
  });

  test('what it sends again after kills is stored once', async () => {
    const file = join(folder, 'many.journal');
    const state = join(folder, 'many.state');
    await writeJournal(file, 'many', 0, count);
    for (const at of [1, count / 4]) {
      const program = upload(file, state);
      await until(async () => (await storedOf('many')) >= at || program.exit() !== undefined, {
        what: `${at} entries: ${program.output()}`,
        everyMs: 5,
      });
      program.signal('SIGKILL');
      await program.exited;
    }
    // A fast machine may end the first request before the kill.
    rmSync(state, { force: true });
    const again = upload(file, state);
    assert.deepEqual(await again.exited, { code: 0, signal: null }, again.output());
    await until(async () => (await storedOf('many')) >= count, {
      what: 'all entries',
    });
    assert.equal(await storedOf('many'), count);
    const saved = readFileSync(state, 'utf8');
    // It resumes with the entry that it sent last.
    const resumed = upload(file, state);
    assert.deepEqual(await resumed.exited, { code: 0, signal: null }, resumed.output());
    assert.equal(await storedOf('many'), count);
    // The answer to the last request is lost, and the journal goes on.
    rmSync(state, { force: true });
    await writeJournal(file, 'many', count, count + 100);
    const more = upload(file, state);
    assert.deepEqual(await more.exited, { code: 0, signal: null }, more.output());
    await until(async () => (await storedOf('many')) >= count + 100, { what: 'the later entries' });
    assert.equal(await storedOf('many'), count + 100);
    assert.notEqual(readFileSync(state, 'utf8'), saved);
    const { values } = await service.facet('host', { host: 'many' });
    assert.deepEqual(values, [{ value: 'many', count: count + 100 }]);
  });
});
