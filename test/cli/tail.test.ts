/** A tail through lost connections, notices and refusals, against a scripted server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { until } from '../harness/until.ts';
import { type CapturedTerminal, captureTerminal } from './captured-terminal.ts';
import { environmentFor, type EventServer, startEventServer } from './event-server.ts';
import { fakeLog } from './fake-log.ts';

interface Tail {
  readonly server: EventServer;
  readonly terminal: CapturedTerminal;
  readonly ended: Promise<number>;
  readonly interrupt: () => void;
}

test('resumes after the last event and prints a notice', async () => {
  const { server, terminal, ended, interrupt } = await startTail([]);
  const first = await server.next();
  assert.equal(first.request.headers['last-event-id'], undefined);
  first.event('open', {}, 'start');
  first.event('log', fakeLog('one'), 'a');
  first.event('heartbeat', {}, 'b');
  await said(terminal, 'one');
  first.response.destroy();
  const second = await server.next();
  assert.equal(second.request.headers['last-event-id'], 'b');
  second.event('open', {}, 'b');
  second.event('log', fakeLog('two'), 'c');
  await said(terminal, 'two');
  assert.match(terminal.error(), /; retrying\nweir: reconnected\n$/);
  second.event('end', {}, 'd');
  second.response.end();
  const third = await server.next();
  assert.equal(third.request.headers['last-event-id'], 'd');
  third.event('dropped', { count: 3, fromTime: 'x', untilTime: 'y\u001b[2J' }, 'e');
  await until(() => terminal.error().includes('were skipped'), { what: 'the notice' });
  interrupt();
  assert.equal(await ended, 0);
  assert.deepEqual(messages(terminal), ['one', 'two']);
  assert.match(terminal.error(), /^weir: cannot read the whole response: .*; retrying\n/);
  assert.match(
    terminal.error(),
    /weir: 3 logs were skipped, .*--until y\\u001b\[2J shows them\)\n/,
  );
  await server.close();
});

test('shows the newest first, and concurrent arrivals once', async () => {
  const seen = fakeLog('seen');
  const listed = [seen, fakeLog('old')];
  const { server, terminal, ended, interrupt } = await startTail(['-n', '2'], listed);
  const connection = await server.next();
  assert.equal(terminal.out(), '', 'the list must wait until the tail is open');
  connection.event('open', {}, 'a');
  connection.event('log', seen, 'b');
  connection.event('log', fakeLog('new'), 'c');
  await said(terminal, 'new');
  interrupt();
  assert.equal(await ended, 0);
  assert.deepEqual(messages(terminal), ['old', 'seen', 'new']);
  await server.close();
});

test('an invalid token ends it with the message of the service', async () => {
  const { server, terminal, ended } = await startTail([]);
  const connection = await server.next();
  connection.event('open', {}, 'a');
  connection.event('error', { status: 401, detail: 'cannot go on: the token was revoked' });
  assert.equal(await ended, 1);
  assert.equal(terminal.error(), 'weir: cannot go on: the token was revoked (401)\n');
  await server.close();
});

test('a refusal is final, a busy service is retried', async () => {
  const { server, terminal, ended } = await startTail([]);
  const busy = await server.next();
  busy.response.writeHead(503, { 'retry-after': '0' }).end('{}');
  const refusal = await server.next();
  refusal.response.writeHead(400).end(JSON.stringify({ detail: 'cannot use search' }));
  assert.equal(await ended, 1);
  assert.equal(terminal.error(), 'weir: cannot use search (400)\n');
  await server.close();
});

test('does not wait for a service that is down at first', async () => {
  const terminal = captureTerminal({ environment: environmentFor('http://127.0.0.1:1') });
  assert.equal(await run(['tail'], terminal), 1);
  assert.match(terminal.error(), /cannot reach http:\/\/127\.0\.0\.1:1/);
});

test('ends silently when its reader closes', async () => {
  const outClosed = new AbortController();
  const { server, terminal, ended } = await startTail([], [], outClosed.signal);
  const connection = await server.next();
  connection.event('open', {}, 'a');
  outClosed.abort();
  assert.equal(await ended, 0);
  assert.equal(terminal.error(), '');
  await server.close();
});

async function startTail(
  argv: readonly string[],
  listed: readonly object[] = [],
  outClosed = new AbortController().signal,
): Promise<Tail> {
  const server = await startEventServer((_request, response) => {
    const cursor = { timestamp: '', logId: '' };
    response.end(JSON.stringify({ logs: listed, cursor, newest: cursor }));
  });
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const environment = environmentFor(server.url);
  const terminal = captureTerminal({ environment, signal, outClosed });
  const ended = run(['tail', '--json', ...argv], terminal);
  return { server, terminal, ended, interrupt: () => interrupted.abort() };
}

async function said(terminal: CapturedTerminal, message: string): Promise<void> {
  await until(() => messages(terminal).includes(message), { what: `the log ${message}` });
}

function messages(terminal: CapturedTerminal): string[] {
  const lines = terminal.out().split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}
