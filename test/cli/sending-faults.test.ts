/** Sending to a service that refuses, breaks and returns: retries, splits, reports. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { captureTerminal } from './captured-terminal.ts';
import {
  type Scripted,
  type ScriptedServer,
  type Seen,
  startScriptedServer,
} from './scripted-server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const accepted = ({ body }: Seen): Scripted => ({
  status: 202,
  body: { accepted: (JSON.parse(body) as unknown[]).length },
});

test('retries a request with its key and body until it is accepted', async () => {
  const failures: readonly (Scripted | undefined)[] = [
    { status: 503, headers: { 'retry-after': '0' } },
    undefined,
    { status: 429, headers: { 'retry-after': '0' } },
  ];
  const { code, summary, server, error } = await send('one\ntwo\n', (seen, count) =>
    count > failures.length ? accepted(seen) : failures[count - 1],
  );
  assert.equal(code, 0, error);
  assert.equal(summary['accepted'], 2);
  assert.equal(summary['retries'], 3);
  assert.equal(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.equal(new Set(server.seen.map(({ body }) => body)).size, 1);
  assert.match(error, /^weir: retrying: /);
});

test('splits a batch that is too large, and reports a single event by line', async () => {
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`);
  lines[4] = 'x'.repeat(2000);
  const { code, summary, server, error } = await send(lines.join('\n'), (seen) =>
    seen.body.length > 200 ? { status: 413, body: { detail: 'cannot accept it' } } : accepted(seen),
  );
  assert.equal(code, 1);
  assert.equal(summary['accepted'], 8);
  assert.equal(summary['rejected'], 1);
  assert.match(error, /^weir: line 5: cannot accept it\n/);
  assert.match(error, /weir: 1 line of 9 rejected\n$/);
  const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
  assert.equal(new Set(keys).size, keys.length, 'a different body has a different key');
});

test('an unreadable event does not affect the others', async () => {
  const { summary, error } = await send('a\nb\npoison\nd\n', (seen) =>
    seen.body.includes('poison') ? { status: 400, body: { detail: 'too deep' } } : accepted(seen),
  );
  assert.deepEqual([summary['accepted'], summary['rejected']], [3, 1]);
  assert.match(error, /^weir: line 3: too deep\n/);
});

test('reports rejected lines, up to a limit', async () => {
  const lines = Array.from({ length: 150 }, (_, index) => `{"message":"m","n":${index}}`);
  const rejected = Array.from({ length: 100 }, (_, index) => ({ index, reason: 'odd' }));
  const { code, summary, error } = await send(`\n${lines.join('\n')}`, () => ({
    status: 202,
    body: { accepted: 30, rejected, rejectedCount: 120 },
  }));
  assert.equal(code, 1);
  assert.deepEqual(
    [summary['accepted'], summary['rejected'], summary['blank'], summary['unsent']],
    [30, 120, 1, 0],
  );
  const told = error.split('\n').filter((line) => /^weir: line \d+: odd$/.test(line));
  assert.equal(told.length, 20);
  assert.equal(told[0], 'weir: line 2: odd');
  assert.match(error, /weir: 80 lines more: odd\nweir: 20 lines more: rejected by the service\n/);
});

const refusals: readonly [number, string][] = [
  [401, 'unknown token'],
  [403, 'inactive'],
  [404, 'no such route'],
  [415, 'no such type'],
];
for (const [status, detail] of refusals) {
  test(`${status} ends it at once, with the message of the service`, async () => {
    const { code, summary, server, error } = await send('a\nb\n', () => ({
      status,
      body: { detail },
    }));
    assert.equal(code, 1);
    assert.equal(server.seen.length, 1);
    assert.equal(summary['unsent'], 2);
    assert.ok(error.endsWith(`cannot continue: ${detail} (${status}); 2 lines not sent\n`));
  });
}

test('an unexpected response is not an acknowledgement', async () => {
  const { code, summary, error } = await send('a\n', () => ({ status: 200, body: { ok: true } }));
  assert.equal(code, 1);
  assert.deepEqual([summary['accepted'], summary['unsent']], [0, 1]);
  assert.match(error, /check that the URL is of a receiver of kind http_json/);
});

test('gives up after the configured time', async () => {
  const { code, error } = await send('a\n', () => ({ status: 503 }), ['--give-up-after', '1s']);
  assert.equal(code, 1);
  assert.match(error, /\(503\); gave up after 1 s; 1 line not sent\n$/);
});

test('Ctrl-C waits for requests in flight and reports unsent lines', async () => {
  const interrupt = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (let line = 0; ; line += 1) yield Buffer.from(`line ${line}\n`.repeat(100));
  }
  const { code, summary, server, error } = await send(
    endless(),
    (seen, count) => {
      if (count === 5) interrupt.abort();
      return accepted(seen);
    },
    [],
    { signal: interrupt.signal },
  );
  assert.equal(code, 130);
  // The last request arrives with the interruption, or after it.
  assert.ok(server.seen.length >= 5);
  const sent = server.seen.map(({ body }) => (JSON.parse(body) as unknown[]).length);
  assert.equal(
    summary['accepted'],
    sent.reduce((sum, lines) => sum + lines),
  );
  const { read, unsent } = summary;
  assert.equal(unsent, Number(read) - Number(summary['accepted']));
  assert.match(error, /weir: interrupted; [\d,]+ lines? not sent\n$/);
});

test('Ctrl-C ends waiting for an unavailable service', async () => {
  const interrupt = new AbortController();
  const { code, error } = await send(
    'a\n',
    () => {
      setImmediate(() => interrupt.abort());
      return { status: 503, headers: { 'retry-after': '60' } };
    },
    [],
    { signal: interrupt.signal },
  );
  assert.equal(code, 130);
  assert.match(error, /interrupted; 1 line not sent\n$/);
});

test('reads no faster than it sends', async () => {
  let yielded = 0;
  let mostAhead = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for (; yielded < 40_000; yielded += 1000) yield Buffer.from('a line\n'.repeat(1000));
  }
  let taken = 0;
  const { code } = await send(counted(), (seen) => {
    mostAhead = Math.max(mostAhead, yielded - taken);
    taken += (JSON.parse(seen.body) as unknown[]).length;
    return accepted(seen);
  });
  assert.equal(code, 0);
  assert.ok(mostAhead <= 30_000, `${mostAhead} lines ahead`);
});

test('sends lines without timestamps sequentially, others concurrently', async () => {
  const inOrder = await send('a line\n'.repeat(3500), accepted);
  const lengths = inOrder.server.seen.map(({ body }) => (JSON.parse(body) as unknown[]).length);
  assert.deepEqual(lengths, [1000, 1000, 1000, 500]);
  const oneByOne = await send('{"message":"x","ts":1}\n'.repeat(3500), accepted);
  assert.equal(oneByOne.summary['accepted'], 3500);
});

test('an interrupted import resumes', async (t) => {
  const folder = temporaryFolder();
  const file = join(folder, 'x.log');
  const state = `${file}.weir-import`;
  const lines = Array.from({ length: 18_000 }, (_, index) => `line ${index}`);
  writeFileSync(file, lines.join('\n'));
  let interrupt = new AbortController();
  const server = await startScriptedServer((seen, count) => {
    if (count === 2) interrupt.abort();
    return accepted(seen);
  });
  t.after(async () => {
    await server.close();
  });
  const target = ['--receiver-url', `${server.url}/logs`, '--ingest-token', 'secret'];
  const importFile = async (...flags: string[]) => {
    const terminal = captureTerminal({ signal: interrupt.signal });
    const argv = ['import', file, '--data', folder, ...target, ...flags];
    return { code: await run(argv, terminal), error: terminal.error() };
  };
  const first = await importFile('--resume');
  assert.equal(first.code, 130);
  assert.match(first.error, /weir: interrupted; .*; repeat the command to resume\n$/);
  const { offset } = JSON.parse(readFileSync(state, 'utf8')) as { offset: number };
  assert.equal(offset, Buffer.byteLength(lines.slice(0, 10_000).join('\n')) + 1);

  interrupt = new AbortController();
  const changed = await importFile('--resume', '--severity', 'INFO');
  assert.match(changed.error, /cannot resume .*: the file, the receiver or an option differs/);
  assert.equal((await importFile('--resume')).code, 0);
  assert.ok(!existsSync(state));
  assert.deepEqual(server.seen.flatMap(messagesOf), lines);

  assert.equal((await importFile()).code, 0);
  const again = server.seen.splice(4);
  assert.deepEqual(
    again.map(keyOf),
    server.seen.map(keyOf),
    'a repeated batch must be recognisable',
  );
});

test('reports rejected lines with their file', async (t) => {
  const folder = temporaryFolder();
  const server = await startScriptedServer(accepted);
  t.after(async () => {
    await server.close();
  });
  const names = ['a', 'b', 'c'].map((name) => join(folder, name));
  for (const name of names) writeFileSync(name, '{"msg":"fine"}\n{"no":"message"}\n');
  const target = ['--receiver-url', `${server.url}/logs`, '--ingest-token', 'secret'];
  const terminal = captureTerminal();
  const flags = ['--format', 'ndjson', '--data', folder];
  assert.equal(await run(['import', ...names, ...flags, ...target], terminal), 1);
  const told = names.map((name) => `weir: ${name}: line 2: message is missing\n`).join('');
  assert.ok(terminal.error().startsWith(told), terminal.error());
});

function messagesOf({ body }: Seen): string[] {
  return (JSON.parse(body) as { message: string }[]).map(({ message }) => message);
}

function keyOf({ headers }: Seen): unknown {
  return headers['idempotency-key'];
}

interface Sent {
  readonly code: number;
  readonly error: string;
  readonly summary: Readonly<Record<string, unknown>>;
  readonly server: ScriptedServer;
}

async function send(
  input: string | AsyncIterable<Uint8Array>,
  answer: (seen: Seen, count: number) => Scripted | undefined,
  flags: readonly string[] = [],
  world: Partial<Terminal> = {},
): Promise<Sent> {
  const server = await startScriptedServer(answer);
  const readIn = typeof input === 'string' ? oneChunk(input) : input;
  const terminal = captureTerminal({ readIn, ...world });
  const target = ['--receiver-url', `${server.url}/logs`, '--ingest-token', 'secret'];
  const argv = ['send', '--json', '--data', '/nowhere', ...target, ...flags];
  const code = await run(argv, terminal);
  await server.close();
  const out = terminal.out();
  const summary = (out === '' ? {} : JSON.parse(out)) as Record<string, unknown>;
  return { code, error: terminal.error(), summary, server };
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
