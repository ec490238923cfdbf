/**
 * Exports equal the list: under concurrent ingest, with hostile and huge messages, for slow and
 * disconnecting readers; a ticket returns one export, once.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRecord } from '../../src/model/plan.ts';
import { createAccessToken } from '../harness/control.ts';
import { readCsv } from '../harness/csv.ts';
import type { Answer } from '../harness/http.ts';
import { type Parameters, startService, type Service, toQuery } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** Of one account. */
const maxExports = 3;

let service: Service;
before(async () => {
  service = await startService({
    flags: ['--stream-max-exports', String(2 * maxExports)],
    expectedErrors: [/engine ended; starting it again/, /housekeeping failed/],
  });
});
after(() => service.stop());

async function exported(parameters: Parameters = {}): Promise<Answer> {
  const answer = await service.read('/logs/export', parameters);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

async function exportedLines(parameters: Parameters): Promise<string[]> {
  const { text } = await exported(parameters);
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

async function listAll(parameters: Parameters): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (let cursor = {}; ; ) {
    const page = await service.list({ limit: 1_000, ...parameters, ...cursor });
    all.push(...page.logs);
    if (page.logs.length === 0) return all;
    cursor = { cursor: `${page.cursor.timestamp},${page.cursor.logId}` };
  }
}

function assertSame(lines: readonly string[], logs: readonly LogRecord[]): void {
  assert.equal(lines.length, logs.length);
  for (const [i, log] of logs.entries()) assert.equal(lines[i], JSON.stringify(log));
}

async function post(events: readonly object[]): Promise<void> {
  const answer = await service.postLogs(events);
  assert.equal(answer.status, 202, answer.text);
}

async function untilReadable(serviceName: string, total: number): Promise<void> {
  await until(async () => (await service.facet('severity', { serviceName })).total === total, {
    what: `${total} logs of ${serviceName}`,
  });
}

/** A GET response while it is streaming. */
function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const { streamUrl, caFile } = service.quickstart;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const ca = readFileSync(caFile);
  httpsRequest(`${streamUrl}${path}`, { ca, headers, agent: false }, resolve)
    .on('error', reject)
    .end();
  return promise;
}

function openExport(parameters: Parameters): Promise<IncomingMessage> {
  const { accessToken, accountId } = service.quickstart;
  const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
  return open(`/api/v1/logs/export?${toQuery(parameters)}`, headers);
}

const running = () => service.metric('weir_exports_running');

suite('compared with the list', () => {
  const crowded = '2026-02-02T02:02:02.222222222Z';

  before(async () => {
    const events = Array.from({ length: 1_200 }, (_, i) => ({
      message: `export ${i} ${i % 5 === 0 ? 'fizz' : 'buzz'}`,
      service_name: 'many',
      severity: ['INFO', 'WARN', 'ERROR'][i % 3],
      host: `host-${i % 4}`,
      labels: { part: `${i % 2}`, ['__proto__']: 'polluted' },
      timestamp: i < 600 ? crowded : new Date(Date.parse(crowded) - i * 60_000).toISOString(),
    }));
    for (let i = 0; i < events.length; i += 400) await post(events.slice(i, i + 400));
    await untilReadable('many', events.length);
  });

  for (const filter of [
    {},
    { severity: 'WARN', search: 'fizz', host: ['host-1', 'host-3'], label: 'part:1' },
    { sinceTime: '2026-02-01T00:00:00Z', untilTime: '2026-02-02T02:02:02.222222222Z' },
    { untilTime: '2026-02-02T02:02:02.222222223Z', severity: 'error' },
    { search: 'nothing has this' },
  ]) {
    test(`the same lines with ${JSON.stringify(filter)}`, async () => {
      const parameters = { serviceName: 'many', ...filter };
      assertSame(await exportedLines(parameters), await listAll(parameters));
    });
  }

  test('a limit selects the newest', async () => {
    const logs = await listAll({ serviceName: 'many' });
    for (const limit of [1, 65, 601]) {
      const lines = await exportedLines({ serviceName: 'many', limit });
      assertSame(lines, logs.slice(0, limit));
    }
  });

  test('under ingest has everything stored before, once and in order', async () => {
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await post(Array.from({ length: 50 }, () => ({ message: 'm', service_name: 'noise' })));
        await sleep(5);
      }
    })();
    const noise = async () => (await service.facet('host', { serviceName: 'noise' })).total;
    await until(async () => (await noise()) > 500, { what: '500 logs of other senders' });
    const earlier = await listAll({});
    const lines = await exportedLines({});
    isOver = true;
    await sending;
    const ids = lines.map((line) => (JSON.parse(line) as LogRecord).logId);
    assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
    const missing = earlier.filter(({ logId }) => !ids.includes(logId));
    assert.deepEqual(missing, []);
  });
});

suite('hostile values', () => {
  const texts = [
    'plain',
    'a "quoted" word, and a comma',
    'two\r\nlines\nand\rmore',
    'nul \0 and bell \u0007',
    '=HYPERLINK("http://x")',
    '+1',
    '-1+1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\u202eright to left',
    '\u2028 \u2029 \ufeff',
    '<script>alert(1)</script>',
    "'already",
    '😀',
    '',
  ];
  let logs: readonly LogRecord[];

  before(async () => {
    const events = texts.map((message, i) => ({
      message,
      service_name: 'hostile',
      host: message,
      labels: { [message]: message, ['__proto__']: '1', i: `${i}` },
    }));
    await post(events);
    // A lone surrogate is not text; the list shows the stored text.
    const half = '[{"message":"half \\ud800 pair","service_name":"hostile"}]';
    assert.equal((await service.postLogs(half)).status, 202);
    await untilReadable('hostile', texts.length + 1);
    logs = await listAll({ serviceName: 'hostile' });
  });

  test('NDJSON is exact', async () => {
    const lines = await exportedLines({ serviceName: 'hostile' });
    assertSame(lines, logs);
    const messages = lines.map((line) => (JSON.parse(line) as LogRecord).message);
    for (const text of texts) assert.ok(messages.includes(text), JSON.stringify(text));
  });

  test('CSV parses, with an apostrophe before formulas', async () => {
    const { text, headers } = await exported({ serviceName: 'hostile', format: 'csv' });
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present');
    const [names = [], ...rows] = readCsv(text);
    assert.equal(rows.length, logs.length);
    for (const [i, cells] of rows.entries()) {
      const row = new Map(names.map((name, column) => [name, cells[column]]));
      const { message, host, labels, logId } = logs[i]!;
      const guard = (value: string) => (/^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value);
      assert.equal(row.get('message'), guard(message));
      assert.equal(row.get('host'), guard(host));
      assert.equal(row.get('labels'), JSON.stringify(labels));
      assert.equal(row.get('logId'), logId);
    }
  });
});

test('the response is a download that must not be cached', async () => {
  const { headers } = await exported({ serviceName: 'nobody' });
  assert.equal(headers['content-type'], 'application/x-ndjson');
  const { 'content-disposition': disposition = '' } = headers;
  assert.match(disposition, /^attachment; filename="weir-logs-\d{8}T\d{6}Z\.ndjson"$/);
  assert.equal(headers['cache-control'], 'private, no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
});

test('refuses invalid exports before they begin', async () => {
  for (const [parameters, status] of [
    [{ format: 'xml' }, 400],
    [{ limit: 0 }, 400],
    [{ cursor: 'x' }, 400],
    [{ sinceTime: 'yesterday' }, 400],
    [{ streamId: '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10' }, 404],
  ] as const) {
    for (const send of [() => service.read('/logs/export', parameters), () => ask(parameters)]) {
      const answer = await send();
      assert.equal(answer.status, status, answer.text);
    }
  }
});

/** Requests a ticket. */
function ask(parameters: Parameters = {}, token?: string): Promise<Answer> {
  const { streamUrl, accessToken, accountId } = service.quickstart;
  return service.http.send(`${streamUrl}/api/v1/logs/export?${toQuery(parameters)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? accessToken}`, 'x-active-account': accountId },
  });
}

interface TicketAnswer {
  readonly url: string;
  readonly expiresAt: string;
}

async function ticket(parameters: Parameters = {}, token?: string): Promise<TicketAnswer> {
  const answer = await ask(parameters, token);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<TicketAnswer>();
}

/** Like a browser: without our headers. */
const fetchTicket = ({ url }: TicketAnswer, method = 'GET') =>
  service.http.send(`${service.quickstart.streamUrl}${url}`, { method });

const mebibyte = 1024 * 1024;
/** Together more than sockets buffer, so that an export without a reader does not end. */
const hugeLogs = 10;

suite('huge messages', () => {
  before(async () => {
    for (let i = 0; i < hugeLogs; i++) {
      const message = `${i} `.padEnd((1 + (i % 8)) * mebibyte, 'lorem ipsum "dolor" ');
      await post([{ message, service_name: 'huge' }]);
    }
    await untilReadable('huge', hugeLogs);
  });

  test('a slow reader gets everything and occupies its place', async () => {
    const response = await openExport({ serviceName: 'huge', limit: 6 });
    await until(async () => (await running()) === 1, { what: 'the export to run' });
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      text += String(chunk);
      await new Promise(setImmediate);
    }
    assert.equal(text.split('\n').length, 7);
    await until(async () => (await running()) === 0, { what: 'the export to end' });
  });

  test('a disconnecting reader releases everything', async () => {
    const response = await openExport({ serviceName: 'huge' });
    response.on('error', () => {});
    await until(async () => (await running()) === 1, { what: 'the export to run' });
    response.destroy();
    await until(async () => (await running()) === 0, { what: 'the export to end' });
  });

  test('exports over the limit are refused; an unused ticket still works', async () => {
    const responses = await Promise.all(
      Array.from({ length: maxExports }, () => openExport({ serviceName: 'huge' })),
    );
    for (const response of responses) response.on('error', () => {});
    const refused = await service.read('/logs/export', { serviceName: 'nobody' });
    assert.equal(refused.status, 503);
    assert.match(refused.headers['retry-after'] ?? '', /^[1-5]$/);
    const asked = await ticket({ serviceName: 'hostile' });
    assert.equal((await fetchTicket(asked)).status, 503);
    for (const response of responses) response.destroy();
    await until(async () => (await running()) === 0, { what: 'the exports to end' });
    assert.equal((await fetchTicket(asked)).status, 200);
    assert.equal((await fetchTicket(asked)).status, 404);
  });
});

suite('tickets', () => {
  test('return the requested export, once', async () => {
    const asked = await ticket({ serviceName: 'hostile', format: 'csv' });
    assert.match(asked.url, /^\/api\/v1\/exports\/[a-z2-7]{52}$/);
    const left = Date.parse(asked.expiresAt) - Date.now();
    assert.ok(left > 0 && left <= 60_000, `${left} ms`);
    assert.equal((await fetchTicket(asked, 'HEAD')).status, 405);
    const answer = await fetchTicket(asked);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, (await exported({ serviceName: 'hostile', format: 'csv' })).text);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    const again = await fetchTicket(asked);
    assert.equal(again.status, 404);
    assert.match(again.json<{ detail: string }>().detail, /its ticket is unknown, used or expired/);
  });

  test('exactly one of many concurrent downloads gets it', async () => {
    const asked = await ticket({ serviceName: 'hostile' });
    const answers = await Promise.all(Array.from({ length: 12 }, () => fetchTicket(asked)));
    const served = answers.filter(({ status }) => status === 200);
    const unknown = answers.filter(({ status }) => status === 404);
    assert.deepEqual([served.length, unknown.length], [1, 11]);
  });

  test('require the scope, and end with the token that requested them', async () => {
    const counting = await createAccessToken(service, ['analytics:read']);
    assert.equal((await ask({}, counting.token)).status, 403);
    const reading = await createAccessToken(service, ['logs:read']);
    const asked = await ticket({ serviceName: 'hostile' }, reading.token);
    const revoked = await service.admin('POST', `/tokens/${reading.tokenId}/revoke`);
    assert.ok(revoked.status < 300, revoked.text);
    const answer = await fetchTicket(asked);
    assert.equal(answer.status, 403);
    assert.match(answer.json<{ detail: string }>().detail, /no longer valid/);
  });
});

test('an engine kill midway breaks the connection', async () => {
  const response = await openExport({ serviceName: 'huge' });
  await until(async () => (await running()) === 1, { what: 'the export to run' });
  for (const pid of service.enginePids()) process.kill(pid, 'SIGKILL');
  let lines = 0;
  let isBroken = false;
  try {
    for await (const chunk of response) {
      lines += (chunk as Buffer).toString().split('\n').length - 1;
    }
  } catch {
    isBroken = true;
  }
  assert.ok(isBroken || lines === hugeLogs, `${lines} lines, and the end looked like one`);
  await until(async () => (await running()) === 0, { what: 'the export to end' });
  await until(() => service.isReady(), { what: 'the engine to restart' });
  assert.equal((await exportedLines({ serviceName: 'hostile', limit: 3 })).length, 3);
});
