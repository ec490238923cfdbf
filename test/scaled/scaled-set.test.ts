/**
 * The whole set: events sent to any gateway are read at the stream node, through losses of nodes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { captureTerminal } from '../cli/captured-terminal.ts';
import { type Answer, createHttpClient, type HttpClient } from '../harness/http.ts';
import { until } from '../harness/until.ts';
import { missingServers, type ScaledSet, startScaledSet } from './scaled-set.ts';

suite('the scaled-out set', { skip: missingServers() }, () => {
  let set: ScaledSet;
  let http: HttpClient;
  before(async () => {
    set = await startScaledSet();
    http = createHttpClient(readFileSync(set.quickstart.caFile, 'utf8'));
  });
  after(async () => {
    http?.close();
    await set?.close();
  });

  async function send(gateway: number, message: string): Promise<number> {
    const { receiverId, token } = set.quickstart.receivers.http_json;
    const url = `${set.ingestUrl(gateway)}/v1/receivers/${receiverId}/logs`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ message });
    const { status } = await http.send(url, { method: 'POST', headers, body });
    return status;
  }

  function read(): Promise<Answer> {
    const { streamUrl, accessToken, accountId } = set.quickstart;
    const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    return http.send(`${streamUrl}/api/v1/logs?limit=1000`, { headers });
  }

  async function stored(): Promise<string[]> {
    const { logs = [] } = (await read()).json<{ logs?: { message: string }[] }>();
    return logs.map(({ message }) => message).sort();
  }

  test('events sent to each gateway are read at the stream node', async () => {
    assert.deepEqual([await send(0, 'a'), await send(1, 'b')], [202, 202]);
    await until(async () => (await stored()).length === 2, { what: 'both logs' });
    assert.deepEqual(await stored(), ['a', 'b']);
  });

  test('weir doctor reports each node as healthy and skips unknown parts', async () => {
    const skippedBy = async (dataDir: string) => {
      const terminal = captureTerminal();
      const code = await run(['doctor', '--data', dataDir], terminal);
      assert.equal(code, 0, terminal.out() + terminal.error());
      return [...terminal.out().matchAll(/^skip {2}(.*?) {2,}/gm)].map(([, check]) => check);
    };
    assert.deepEqual(await skippedBy(set.stream.dataDir), []);
    for (const node of set.gateways) {
      assert.deepEqual(await skippedBy(node.dataDir), ['sending', 'stream address']);
    }
    for (const node of set.writers) {
      assert.deepEqual(await skippedBy(node.dataDir), ['ingest address', 'stream address']);
    }
  });

  test('while the store hangs, events are accepted and reads are refused', async () => {
    set.engine.pause();
    try {
      await until(async () => (await read()).status === 503, { what: 'reads to be refused' });
      const refused = await read();
      assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
      assert.deepEqual([await send(0, 'c'), await send(1, 'd')], [202, 202]);
    } finally {
      set.engine.resume();
    }
    await until(async () => (await stored()).length >= 4, { what: 'all four logs' });
    assert.deepEqual(await stored(), ['a', 'b', 'c', 'd']);
  });

  test('each killed node recovers, and nothing is lost or duplicated', async () => {
    const expected = ['a', 'b', 'c', 'd'];
    for (const node of set.nodes) {
      const killed = node.kill('SIGKILL');
      const gateway = node === set.gateways[0] ? 1 : 0;
      const message = `e${expected.length}`;
      assert.equal(await send(gateway, message), 202);
      expected.push(message);
      await killed;
      await set.start();
      await set.ready();
    }
    await until(async () => (await stored()).length >= expected.length, { what: 'all logs' });
    assert.deepEqual(await stored(), expected.toSorted());
  });

  test('series reappear with their next sample after a deletion', async () => {
    const { streamUrl, streamId, accessToken, accountId, receivers } = set.quickstart;
    const { receiverId, token } = receivers.prometheus;
    const asReader = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    const asSender = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
    const push = async (gateway: number) => {
      const url = `${set.ingestUrl(gateway)}/v1/receivers/${receiverId}/prometheus/metrics`;
      await http.send(url, { method: 'POST', headers: asSender, body: 'river_level 1\n' });
    };
    const isListed = async () => {
      const url = `${streamUrl}/api/v1/prometheus/api/v1/series?match[]=river_level`;
      const { data = [] } = (await http.send(url, { headers: asReader })).json<{
        data?: unknown[];
      }>();
      return data.length === 1;
    };
    await push(0);
    await until(isListed, { what: 'the series' });
    let isDeleted = false;
    const url = `${streamUrl}/api/v1/admin/streams/${streamId}/data`;
    const deletion = http.send(url, { method: 'DELETE', headers: asReader });
    void deletion.finally(() => (isDeleted = true));
    while (!isDeleted) await Promise.all([push(0), push(1)]);
    assert.equal((await deletion).status, 200);
    await Promise.all([push(0), push(1)]);
    await until(isListed, { what: 'the series after the deletion' });
  });
});
