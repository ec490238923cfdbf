/** Read commands over the real service, in pipes and in a terminal. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { exitCodes, type Terminal } from '../../src/cli/terminal.ts';
import type { LogRecord } from '../../src/model/plan.ts';
import { type Service, startService } from '../harness/service.ts';
import { openBrowser } from '../harness/browser.ts';
import { until } from '../harness/until.ts';
import { captureTerminal } from './captured-terminal.ts';
import { noTerminal, startInPipes, startInTerminal, weirWords } from './weir-command.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const count = 2_345;
const base = Date.parse('2026-11-20T08:00:00.000Z');
const hostile = 'boom \u001b[2J\u202e\u009b31m\n\tat evil.js\r\nlast';
const severities = ['INFO', 'WARN', 'ERROR'] as const;

const folder = temporaryFolder();
let service: Service;
let environment: Record<string, string>;
before(async () => {
  service = await startService();
  environment = { WEIR_DATA: service.dataDir };
  const answer = await service.postLogs(Array.from({ length: count }, (_, i) => event(i)));
  assert.equal(answer.status, 202, answer.text);
  await until(async () => (await service.facet('severity')).total === count, {
    what: 'all logs to be stored',
  });
});
after(async () => {
  await service.stop();
});

test('prints the newest logs oldest first, with a hint how to continue', async () => {
  const { out, error } = await weir('logs', '-n', '3', '--utc');
  assert.equal(
    out,
    [2342, 2343, 2344]
      .map((i) => `${timeOf(i)} ${severityOf(i).padEnd(5)} web order ${i}\n`)
      .join(''),
  );
  const cursor = /--cursor (\S+), or --all/.exec(error)?.[1];
  assert.doesNotMatch(error, /scanned/);
  const older = await weirLogs('-n', '2', '--cursor', cursor!);
  assert.deepEqual(numbers(older), [2340, 2341]);
  const turned = await weirLogs('-n', '2', '--newest-first', '--cursor', cursor!);
  assert.deepEqual(numbers(turned), [2341, 2340]);
});

test('reads from the oldest log, with a hint how to continue', async () => {
  const { out, error } = await weir('logs', '-n', '1200', '--oldest-first', '--json');
  const read = out.trimEnd().split('\n');
  assert.equal(read.length, 1200);
  assert.deepEqual(numbers(read.map((line) => JSON.parse(line) as LogRecord)), range(0, 1200));
  const cursor = /there are newer logs: continue with --cursor (\S+), or/.exec(error)?.[1];
  const newer = await weirLogs('-n', '2', '--oldest-first', '--cursor', cursor!);
  assert.deepEqual(numbers(newer), [1200, 1201]);
  assert.deepEqual(numbers(await weirLogs('--all', '--oldest-first')), range(0, count));
  const both = await weir('logs', '--oldest-first', '--newest-first');
  assert.match(both.error, /'--oldest-first' cannot be used with option '--newest-first'/);
});

test('fetches pages until the requested number is reached', async () => {
  const many = await weirLogs('-n', '2100');
  assert.deepEqual(numbers(many), range(count - 2100, count));
  const { error } = await weir('logs', '-n', String(count));
  assert.equal(error, '', 'there must be no others');
});

test('prints all logs in either order, unchanged', async () => {
  const all = await weirLogs('--all');
  assert.deepEqual(numbers(all), range(0, count));
  assert.deepEqual(await weirLogs('--all', '--newest-first'), all.toReversed());
  const { logs } = await service.list({ limit: 1 });
  assert.deepEqual(all.at(-1), logs[0]);
});

test('passes filters to the API', async () => {
  const { streamId } = service.quickstart;
  const { streams } = (await service.admin('GET', '/streams')).json<{
    streams: { name: string }[];
  }>();
  const filtered: readonly [string[], number[]][] = [
    [['order', '1117'], [1117]],
    [['--label', 'customer:c-40'], [40]],
    [['--label', 'customer=c-40', '--label', 'evil:nothing'], []],
    [['--until', timeOf(2).replace(' ', 'T'), '--host', 'n1'], [1]],
    [['--stream', streams[0]!.name, '-n', '1'], [count - 1]],
    [['--stream', streamId, '-n', '1'], [count - 1]],
  ];
  for (const [argv, expected] of filtered) {
    assert.deepEqual(numbers(await weirLogs(...argv)), expected, argv.join(' '));
  }
  const worse = await weirLogs('--severity', 'error', '--severity', 'warn', '-n', '5');
  assert.ok(worse.every(({ severity }) => severity !== 'INFO') && worse.length === 5);
  assert.deepEqual(numbers(await weirLogs('order', '-n', '1', '--', '-2344')), [2343]);
});

test('refuses an empty range', async () => {
  for (const command of ['logs', 'export', 'facets', 'patterns', 'histogram']) {
    const { code, out, error } = await weir(command, '--since', '1h', '--until', '2h');
    assert.deepEqual([code, out], [2, ''], command);
    assert.match(error, /cannot read from --since 1h to --until 2h: the range is empty/);
  }
  const nanos = ['2026-11-20T08:00:00.000000001Z', '2026-11-20T08:00:00.000000002Z'] as const;
  assert.deepEqual(await weirLogs('--since', nanos[0], '--until', nanos[1]), []);
  const { error } = await weir('logs', '--since', nanos[0], '--until', nanos[0]);
  assert.match(error, /the range is empty/);
});

test('escapes hostile text in lines, columns and details', async () => {
  const [log] = await weirLogs('boom');
  const shown = [
    await weir('logs', 'boom', '--wide'),
    await weir('logs', 'boom', '--fields', 'time,severity,label.evil,message'),
    await weir('logs', 'boom', '--json'),
    await weir('log', log!.logId),
    await weir('log', log!.logId, '--context', '1'),
    await weir('facets', 'service', '--json'),
  ];
  for (const { out } of shown) assert.doesNotMatch(out, /[^\P{C}\n\t]/u);
  assert.match(
    shown[0]!.out,
    / boom \\u001b\[2J\\u202e\\u009b31m\n {4}\tat evil\.js\n {4}last customer=c-7 evil=/,
  );
  assert.equal(shown[1]!.out.split('\t').length, 4, 'columns are separated by a tab in a pipe');
  assert.match(shown[3]!.out, /^label evil +x\\u001b\]0;\\u0007$/m);
});

test('marks a log in its context', async () => {
  const [log] = await weirLogs('--label', 'customer:c-40');
  const { out } = await weir('log', log!.logId, '--context', '2');
  const lines = out.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.slice(0, 1)),
    [' ', ' ', '>', ' ', ' '],
  );
  assert.deepEqual(
    lines.map((line) => Number(line.split(' ').at(-1))),
    [38, 39, 40, 41, 42],
  );
  const json = JSON.parse((await weir('log', log!.logId, '--json')).out) as LogRecord;
  assert.deepEqual(json, log);
  const missing = await weir('log', `${log!.logId.slice(0, -4)}ffff`);
  assert.equal(missing.code, 1);
  assert.match(missing.error, /^weir: cannot find .*\(404\)\n$/);
});

test('histogram and facets agree with the list', async () => {
  const range8 = ['--since', timeOf(0).replace(' ', 'T'), '--until', '2026-11-20T09:00:00Z'];
  const { out } = await weir('histogram', ...range8, '--buckets', '4', '--ascii', '--utc');
  const rows = out.trimEnd().split('\n');
  assert.equal(rows.length, 5);
  assert.match(rows[0]!, /^2026-11-20 08:00:00Z +900 #+$/);
  assert.match(rows[3]!, /^2026-11-20 08:45:00Z +0$/);
  assert.match(rows[4]!, /^2345 logs until 2026-11-20 09:00:00Z$/);
  const hour = ['--until', '2026-11-20T09:00:00Z', '--buckets', '1', '--utc'];
  assert.match((await weir('histogram', ...hour)).out, /^2026-11-20 08:00:00Z 2345 /);
  const odd = ['--since', '2026-11-20T07:58:11.123Z', '--until', '2026-11-20T08:57:00Z', '--utc'];
  const round = (await weir('histogram', ...odd)).out.trimEnd().split('\n');
  assert.equal(round.length, 14);
  assert.match(round[0]!, /^2026-11-20 07:55:00Z +0$/);
  assert.match(round[1]!, /^2026-11-20 08:00:00Z +300 /);
  assert.equal(round[13], '2345 logs until 2026-11-20 09:00:00Z');
  const grouped = await weir('histogram', ...range8, '--by', 'severity', '--buckets', '1');
  assert.match(grouped.out, /ERROR WARN INFO\n\S+ \S+ +\d+ +\d+ +\d+ /);
  const facets = await weir('facets', 'severity', 'host', '--top', '2');
  assert.match(facets.out, /^severity {2}2345 logs\n {2}INFO +\d+ +\d\d\.\d % /);
  assert.match(facets.out, /\n\nhost {2}2345 logs\n(.*\n){2} {2}\(other\) +\d+/);
  const label = await weir('facets', 'label.customer', '-q', 'customer:c-4*', '--top', '1');
  assert.match(label.out, /^label\.customer {2}\d+ logs\n {2}c-4\d* /);
  const by = ['--by', 'label.customer', '--top', '1', '-q', 'customer:(c-40 OR c-41)'];
  const byLabel = await weir('histogram', ...range8, '--buckets', '1', ...by);
  assert.match(byLabel.out, /^ +c-40 other\n\S+ \S+ +1 +1 /);
});

test('fields lists fields and labels, and the values of one', async () => {
  const { out } = await weir('fields', '-q', 'customer:c-4*');
  assert.match(out, /^NAME +COUNT\n/);
  assert.match(out, /^label\.customer +\d+$/m);
  assert.match(out, /^host +\d+$/m);
  const values = await weir('fields', 'label.customer', '--prefix', 'C-40', '--limit', '1');
  assert.match(values.out, /^VALUE +COUNT\nc-40 +\d+\n$/);
  const json = JSON.parse((await weir('fields', 'severity', '--json')).out) as {
    values: { value: string }[];
    sampled: number;
  };
  assert.ok(json.values.some(({ value }) => value === 'ERROR') && json.sampled > 0);
});

test('stats shows a table of groups, and JSON', async () => {
  const range8 = ['--since', '2026-11-20T08:00:00Z', '--until', '2026-11-20T09:00:00Z'];
  const { out } = await weir('stats', ...range8);
  assert.equal(out, 'count\n 2345\n');
  const chosen = [...range8, '-q', 'customer:(c-40 OR c-41)'];
  const grouped = await weir('stats', 'count', ...chosen, '--by', 'label.customer', '--limit', '1');
  assert.match(grouped.out, /^label\.customer +count\nc-40 +1\n\(other\) +1\n$/);
  const steps = ['--step', '30m', '--by', 'host', '--utc', '--limit', '1'];
  const json = JSON.parse((await weir('stats', 'rate', ...range8, ...steps, '--json')).out) as {
    rows: { time: string; values: { rate: number } }[];
  };
  const logs = json.rows.reduce((sum, { values }) => sum + values.rate * 1_800, 0);
  assert.equal(Math.round(logs), 2345);
  const refused = await weir('stats', 'p95(customer)');
  assert.match(refused.error, /cannot read parameter stat .*or label\.<key> for a label/);
});

test('a query chooses the logs of every command', async () => {
  const query = ['-q', '(customer:c-40 OR customer:"c-41") -host:n9 order'];
  assert.equal((await weir('logs', ...query, '--json')).out.trimEnd().split('\n').length, 2);
  assert.equal((await weir('export', ...query)).out.trimEnd().split('\n').length, 2);
  assert.match((await weir('facets', 'host', ...query)).out, /^host {2}2 logs\n/);
  const hour = ['--until', '2026-11-20T09:00:00Z', '--buckets', '1', '--utc'];
  assert.match((await weir('histogram', ...hour, ...query)).out, / 2 /);
  const refused = await weir('tail', '-q', 'status:>=');
  assert.match(refused.error, /cannot read query at position 10: expected a value after status:>=/);
});

test('patterns group logs by template, with a query that finds them', async () => {
  const since = [
    '--since',
    timeOf(0).replace(' ', 'T'),
    '--until',
    timeOf(count).replace(' ', 'T'),
  ];
  const { out } = await weir('patterns', ...since, '--severity', 'warn', '--values', '--ascii');
  assert.match(out, /^ +\d+ +99\.9 % WARN [ .:=+*#@-]{24} order <number>\n {2}number: \d+ \d/);
  assert.match(out, /\n\d+ logs\n$/);
  const { patterns, total } = JSON.parse((await weir('patterns', ...since, '--json')).out) as {
    patterns: { query: string; count: number }[];
    total: number;
  };
  assert.equal(total, count);
  for (const { query, count: found } of patterns) {
    const facets = await weir('facets', 'service', ...since, '-q', query, '--json');
    assert.equal(
      (JSON.parse(facets.out) as { facets: { total: number }[] }).facets[0]!.total,
      found,
    );
  }
});

test('a comparison lists values that another query lacks', async () => {
  const queries = ['--since', '3650d', '-q', 'severity:warn', '--baseline-query=-severity:warn'];
  const { out } = await weir('compare', ...queries, '--ascii');
  assert.match(out, /\d+ logs compared with \d+ logs, \d+ values, /);
  const { selection, baseline } = JSON.parse((await weir('compare', ...queries, '--json')).out) as {
    selection: { total: number };
    baseline: { total: number };
  };
  assert.equal(selection.total + baseline.total, count);
  const refused = await weir('compare', '--baseline-from', 'soon');
  assert.match(refused.error, /cannot use --baseline-from "soon"/);
});

test('an export is complete, in a file or a pipe', async () => {
  const file = join(folder, 'logs.ndjson');
  assert.equal((await weir('export', '-o', file)).code, 0);
  const text = readFileSync(file, 'utf8');
  assert.equal(text.trimEnd().split('\n').length, count);
  assert.deepEqual(readdirSync(folder), ['logs.ndjson']);
  assert.equal((await weir('export')).out, text);
  const csv = await weir('export', '--format', 'csv', '--label', 'customer:c-40');
  assert.equal(csv.out.trimEnd().split('\n').length, 2);
  const nowhere = await weir('export', '-o', join(folder, 'none', 'logs.ndjson'));
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.error, /^weir: cannot write .*none/);
});

test('a reader that closes the pipe ends it silently', async () => {
  const line = `{ ${weirWords} logs --all --json; echo "ended with $?" >&2; } | head -n 1`;
  const command = startInPipes(line, environment);
  assert.equal(await command.exited, 0);
  assert.equal(command.out().split('\n').length, 2);
  assert.equal(command.error(), 'ended with 0\n');
});

test('colours and truncates in terminals only', { skip: noTerminal }, async () => {
  await service.postLogs([{ ...event(0), message: 'long '.repeat(1_000), timestamp: undefined }]);
  await until(async () => (await weirLogs('long')).length === 1, { what: 'the long log' });
  const seen = startInTerminal(
    `${weirWords} logs -n 2; ${weirWords} logs --full long`,
    environment,
  );
  const piped = startInPipes(`${weirWords} logs -n 2`, environment);
  assert.equal(await seen.exited, 0);
  assert.ok(seen.out().includes('\u001b[22m \u001b[32mINFO \u001b[39m \u001b[36mweb\u001b[39m '));
  assert.match(seen.out(), / … 4400 more characters, see --full/);
  assert.ok(seen.out().includes('long '.repeat(1_000)));
  assert.equal(await piped.exited, 0);
  assert.ok(!piped.out().includes('\u001b') && piped.out().includes('long '.repeat(1_000)));
});

test('a tail in a terminal shows new logs until Ctrl-C', { skip: noTerminal }, async () => {
  const tail = startInTerminal(`exec ${weirWords} tail -n 1 --label customer:live`, environment);
  const labels = { customer: 'live' };
  const send = async (message: string) => {
    await service.postLogs([{ message, severity: 'WARN', labels }]);
    await until(() => tail.out().includes(message), { what: `${message} in the tail` });
  };
  // Logs sent before the tail is open are not shown: sent repeatedly.
  await until(
    async () => {
      await service.postLogs([{ message: 'is it there?', labels }]);
      return tail.out().includes('is it there?');
    },
    { what: 'the tail to be open', everyMs: 200 },
  );
  await send('first of all');
  await send('second');
  tail.type('\u0003');
  assert.equal(await tail.exited, 0);
  assert.equal(tail.out().split('first of all').length, 2, 'it must arrive once');
});

test('a revoked token ends a tail with the message of the service', async () => {
  const { accountId } = service.quickstart;
  const scopes = ['logs:read'];
  const body = { type: 'access', name: 'brief', scopes, accountIds: [accountId] };
  const token = (await service.admin('POST', '/tokens', body)).json<{
    token: string;
    tokenId: string;
  }>();
  const own = { ...environment, WEIR_TOKEN: token.token, WEIR_ACCOUNT: accountId };
  const terminal = captureTerminal({ environment: own });
  const ended = run(['tail', '-n', '1'], terminal);
  await until(() => terminal.out() !== '', { what: 'the tail to be open' });
  await service.admin('POST', `/tokens/${token.tokenId}/revoke`);
  assert.equal(await ended, exitCodes.failed);
  assert.match(terminal.error(), /^weir: .*\(401\)\n$/);
});

test('lists, shows and deletes saved views', async () => {
  const saved = await service.admin('POST', '/views', { name: 'late', query: 'search=late' });
  const { viewId } = saved.json<{ viewId: string }>();
  const { out } = await weir('view', 'list');
  assert.match(out, new RegExp(`^VIEW ID +NAME +QUERY +UPDATED AT\\n${viewId} +late +search=late`));
  assert.match((await weir('view', 'show', viewId)).out, /^query +search=late$/m);
  assert.equal((await weir('view', 'delete', viewId)).out, `deleted view ${viewId}\n`);
  assert.equal((await weir('view', 'show', viewId)).code, exitCodes.failed);
});

test('prints a link that signs a browser in, and without a token the address', async () => {
  const { streamUrl, accessToken } = service.quickstart;
  const { out } = await weirIn({ isOutTty: true }, 'open');
  const [url = '', hint = ''] = out.split('\n');
  assert.match(url, /^https:\/\/localhost:\d+\/#sign-in=wrl_[a-z2-7]{52}$/);
  assert.ok(url.startsWith(`${streamUrl}/#`));
  assert.match(hint, /signs one browser in, within 10 minutes/);
  assert.ok(!out.includes(accessToken));
  const browser = openBrowser(service);
  await browser.signIn(url.slice(url.indexOf('wrl_')));
  assert.equal((await browser.send('GET', '/api/v1/admin/whoami')).status, 200);

  // Without the quickstart of a service that was started in this checkout.
  const away = ['--data', 'no-such-folder', '--url', streamUrl] as const;
  const elsewhere = await weirIn({ environment: {} }, 'open', ...away);
  assert.equal(elsewhere.out, `${streamUrl}/\n`);
  const refused = await weir('open', '--token', 'wra_unknown');
  assert.equal(refused.code, exitCodes.failed);
  assert.match(refused.error, /^weir: .*\(401\)\n$/);
  const missing = await weirIn(
    { environment: { ...environment, PATH: '/nowhere' } },
    'open',
    '--browser',
  );
  assert.equal(missing.code, 1);
  assert.match(missing.error, /^weir: cannot open a browser with (xdg-)?open: /);
});

test('excludes values by option names', async () => {
  const [first] = await weirLogs('-n', '50');
  const unwanted = first?.severity ?? '';
  const exclusions = ['host:n1', 'service:none', `severity:${unwanted.toLowerCase()}`];
  const argv = exclusions.flatMap((exclusion) => ['--exclude', exclusion]);
  const left = await weirLogs('-n', '50', ...argv, '--exclude-label', 'customer:c-2');
  assert.ok(left.length > 0);
  for (const log of left) {
    assert.notEqual(log.severity, unwanted);
    assert.notEqual(log.host, 'n1');
    assert.notEqual(log.labels['customer'], 'c-2');
  }
});

test('Ctrl-C ends a read with 130, silently', async () => {
  const { code, error } = await weirIn({ signal: AbortSignal.abort() }, 'logs');
  assert.equal(code, exitCodes.interrupted);
  assert.equal(error, '');
});

const mistakes: readonly [string[], RegExp][] = [
  [['logs', '--since', 'yesterday'], /cannot use --since "yesterday": Give a time such as 15m/],
  [['logs', '--fields', 'time,colour'], /cannot show the field "colour": there are time, /],
  [['logs', '--label', 'region'], /Give a label as key:value/],
  [['logs', '--exclude', 'debug'], /Give a field and its value as severity:debug/],
  [['logs', '-n', 'ten'], /Give a whole number/],
  [['logs', '-n', '0'], /Give a whole number, 1 or more\./],
  [['facets', 'colour'], /Fields are severity, service,.* or label\.<key>/],
  [['histogram', '--by', 'message'], /Fields are severity,/],
  [['histogram', '--buckets', '501'], /Give a whole number, 1 to 500\./],
  [['log', 'x', '--same', 'pod'], /Allowed choices are host, service/],
  [['export', '--format', 'xml'], /Allowed choices are ndjson, csv/],
  [['tail', '-n', '5000'], /Give a whole number, 0 to 1000\./],
];
for (const [argv, message] of mistakes) {
  test(`rejects weir ${argv.join(' ')}`, async () => {
    const { code, out, error } = await weir(...argv);
    assert.equal(code, exitCodes.usage);
    assert.match(error, message);
    assert.equal(out, '');
  });
}

interface Result {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

test('shows the logs of a trace, oldest first', async () => {
  const traced = ['edge', 'shop', 'edge'].map((name, i) => ({
    message: `step ${i}`,
    service_name: name,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    // Outside the times of the other tests.
    timestamp: new Date(base - 86_400_000 + i * 250).toISOString(),
  }));
  await service.postLogs(traced);
  const trace = ['trace', '0AF7651916cd43dd8448eb211c80319c'];
  const steps = /step 0\n.*step 1\n.*step 2\n$/s;
  await until(async () => steps.test((await weir(...trace)).out), { what: 'the trace' });
  assert.doesNotMatch((await weir(...trace)).out, /2 logs/, 'no bars in a pipe');
  const refused = await weir('trace', 'abc');
  assert.match(refused.error, /abc/);
  assert.notEqual(refused.code, 0);
});

function weir(...argv: string[]): Promise<Result> {
  return weirIn({}, ...argv);
}

test('prints what each response scanned, with --verbose', async () => {
  const { out, error } = await weir('logs', '-n', '1', '--verbose', '--', '-order');
  assert.notEqual(out, '');
  assert.match(error, /^weir: scanned [\d,]+ logs, \d+\.\d MB$/m);
});

async function weirIn(world: Partial<Terminal>, ...argv: string[]): Promise<Result> {
  const terminal = captureTerminal({ environment, ...world });
  const code = await run(argv, terminal);
  return { code, out: terminal.out(), error: terminal.error() };
}

async function weirLogs(...argv: string[]): Promise<LogRecord[]> {
  const separator = argv.indexOf('--');
  const at = separator < 0 ? argv.length : separator;
  const { code, out, error } = await weir('logs', ...argv.toSpliced(at, 0, '--json'));
  assert.equal(code, 0, error);
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogRecord);
}

function event(i: number): object {
  return {
    message: i === 7 ? hostile : `order ${i}`,
    severity: severityOf(i),
    service_name: 'web',
    host: `n${i % 3}`,
    timestamp: new Date(base + i * 1_000).toISOString(),
    labels: { customer: `c-${i}`, ...(i === 7 && { evil: 'x\u001b]0;\u0007' }) },
  };
}

function severityOf(i: number): string {
  return severities[Math.floor(i / 4) % severities.length]!;
}

function timeOf(i: number): string {
  return new Date(base + i * 1_000).toISOString().replace('T', ' ');
}

function numbers(logs: readonly LogRecord[]): number[] {
  return logs.map(({ timestamp }) => (Date.parse(timestamp) - base) / 1_000);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
