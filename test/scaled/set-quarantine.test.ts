/** A batch refused by the store, on the scaled-out set: retried under load. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { captureTerminal } from '../cli/captured-terminal.ts';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { toServiceNodes } from './scaled-nodes.ts';
import { missingServers, openScaledSet, type ScaledSet } from './scaled-set.ts';

suite('the quarantine of the scaled-out set', { skip: missingServers() }, () => {
  let set: ScaledSet;
  let service: Service;
  before(async () => {
    set = await openScaledSet({ gateways: 1, writers: 2 });
    const expectedErrors = [/drain quarantined a batch/, /insert/];
    service = new Service(toServiceNodes(set), { expectedErrors });
    await service.start();
    await set.ready();
  });
  after(() => service?.stop());

  async function weir(...argv: readonly string[]): Promise<string> {
    const terminal = captureTerminal({ environment: set.servers.env });
    const code = await run(['quarantine', ...argv], terminal);
    assert.equal(code, 0, terminal.error());
    return terminal.out();
  }

  async function list(): Promise<{ readonly id: string; readonly rows: number }[]> {
    const { batches } = JSON.parse(await weir('list', '--json')) as { batches: [] };
    return batches;
  }

  async function sql(statement: string): Promise<void> {
    const url = set.servers.env['WEIR_STORE_URL'] ?? '';
    const answer = await fetch(url, { method: 'POST', body: statement });
    assert.equal(answer.status, 200, await answer.text());
  }

  const messages = async () => (await service.list()).logs.map(({ message }) => message).sort();

  test('stores its rows once, whatever the store had of them', async () => {
    await sql(
      "ALTER TABLE weir.logs ADD COLUMN Probe UInt8 DEFAULT toUInt8(if(Body = 'bad', 'x', '1'))",
    );
    const events = ['bad', 'with it'].map((message) => ({ message }));
    assert.equal((await service.postLogs(events)).status, 202);
    await until(async () => (await list()).length === 1, { what: 'the batch to be quarantined' });
    const [{ id, rows }] = (await list()) as [{ id: string; rows: number }];
    assert.equal(rows, 2);

    await weir('retry', id);
    await until(async () => (await list()).length === 1, {
      what: 'the batch to be quarantined again',
    });
    await sql('ALTER TABLE weir.logs DROP COLUMN Probe');
    const [writer, sequence] = id.split('-') as [string, string];
    const batch = (BigInt(`0x${writer}`) << 64n) | BigInt(sequence);
    const { accountId, streamId } = service.quickstart;
    await sql(`INSERT INTO weir.logs (Timestamp, ReceivedAt, AccountId, StreamId, Batch, Row, Body)
SELECT now64(9), now64(9), '${accountId}', '${streamId}', toUInt128('${batch}'), 0, 'bad'`);
    assert.deepEqual(await messages(), ['bad']);

    assert.equal(await weir('retry', '--all'), `retried ${id}\n`);
    await until(async () => (await messages()).length > 1, { what: 'the missing rows' });
    assert.deepEqual(await messages(), ['bad', 'with it']);
    assert.deepEqual(await list(), []);
  });
});
