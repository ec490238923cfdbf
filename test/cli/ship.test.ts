/** `weir ship` against the real service: each line once, through rotations, kills and restarts. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRecord } from '../../src/model/plan.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startScriptedServer } from './scripted-server.ts';
import { type RunningCommand, startInPipes, weirWords } from './weir-command.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

interface State {
  readonly files: Readonly<Record<string, unknown>>;
}

let service: Service;
let folder: string;
let running: RunningCommand[] = [];
let name = '';
let tests = 0;
before(async () => {
  service = await startService();
});
after(() => service.stop());
beforeEach(() => {
  folder = temporaryFolder();
  name = `ship-${(tests += 1)}`;
});
afterEach(async () => {
  for (const command of running) {
    command.kill('SIGKILL');
    await command.exited;
  }
  running = [];
});

function ship(
  words: string,
  env: Readonly<Record<string, string>> = {},
  wrapper = '',
): RunningCommand {
  const { receivers, caFile } = service.quickstart;
  const state = join(folder, 'state');
  const line = `exec ${wrapper} ${weirWords} ship --state ${state} --service ${name} ${words}`;
  const command = startInPipes(line, {
    WEIR_RECEIVER_URL: receivers.http_json.url,
    WEIR_INGEST_TOKEN: receivers.http_json.token,
    WEIR_CA_FILE: caFile,
    ...env,
  });
  running.push(command);
  return command;
}

async function stored(): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await service.list({
      serviceName: name,
      limit: 1000,
      ...(cursor !== undefined && { cursor }),
    });
    if (page.logs.length === 0) return all;
    all.push(...page.logs);
    cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
  }
}

/** Waits for as many logs, and checks that each line is stored once. */
async function eachOnce(lines: readonly string[]): Promise<LogRecord[]> {
  const logs = await until(
    async () => {
      const count = await service.histogram({
        serviceName: name,
        startTime: '2020-01-01T00:00:00Z',
        endTime: '2100-01-01T00:00:00Z',
        buckets: 1,
      });
      return count.total >= lines.length && (await stored());
    },
    {
      what: `${lines.length} logs: ${running.at(-1)?.error() ?? ''}`,
      everyMs: 200,
    },
  );
  assert.deepEqual(logs.map(({ message }) => message).sort(byText), [...lines].sort(byText));
  return logs;
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `line ${from + index} ${'.'.repeat(50)}`);
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

test('follows a file through renames and truncations', async () => {
  const file = join(folder, 'app.log');
  const parts = [0, 1, 2, 3].map((part) => numbered(part * 100, 100));
  writeFileSync(file, textOf(parts[0]!));
  ship(`'${join(folder, '*.log')}'`);
  await eachOnce(parts[0]!);
  // logrotate's default, with a last line written after the rename.
  renameSync(file, `${file}.1`);
  appendFileSync(`${file}.1`, textOf(parts[1]!.slice(0, 50)));
  writeFileSync(file, textOf(parts[1]!.slice(50)));
  await eachOnce(parts.slice(0, 2).flat());
  // copytruncate.
  copyFileSync(file, `${file}.2`);
  truncateSync(file, 0);
  appendFileSync(file, textOf(parts[2]!));
  await eachOnce(parts.slice(0, 3).flat());
  writeFileSync(join(folder, 'other.log'), textOf(parts[3]!));
  await eachOnce(parts.flat());
});

test('a line that is rejected is named by file and line, also in a later run', async () => {
  const file = join(folder, 'app.ndjson');
  const event = (message: string) => `${JSON.stringify({ message })}\n`;
  const runOnce = async () => {
    const command = ship(`--once --format ndjson '${file}'`);
    await command.exited;
    return command.error();
  };
  writeFileSync(file, `${event('a')}\n${event('b')}no JSON\n`);
  assert.match(await runOnce(), /app\.ndjson:4: not a JSON object/);
  appendFileSync(file, `${event('c')}{"message":1,\n`);
  const second = await runOnce();
  assert.match(second, /app\.ndjson:6: not a JSON object/);
  assert.doesNotMatch(second, /ndjson:4/);
});

test('goes on after kill -9, of itself and of the service, within rotations', async () => {
  const file = join(folder, 'app.log');
  const lines: string[] = [];
  let part = 0;
  const pattern = `'${file}*'`;
  const write = (count: number) => {
    const more = numbered(lines.length, count);
    appendFileSync(file, textOf(more));
    lines.push(...more);
  };
  const state = join(folder, 'state', 'checkpoints.json');
  const savedAt = () => statSync(state, { throwIfNoEntry: false })?.mtimeMs;
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) {
      write(20);
      if (lines.length % 400 === 0) renameSync(file, `${file}.${(part += 1)}`);
      await sleep(10);
    }
  })();
  for (let kill = 0; kill < 6; kill += 1) {
    const earlier = savedAt();
    const command = ship(pattern);
    await until(() => savedAt() !== earlier, { what: 'positions', everyMs: 2 });
    if (kill === 3) {
      await service.kill('SIGKILL');
      await service.start();
    }
    command.kill('SIGKILL');
    await command.exited;
  }
  isWriting = false;
  await writing;
  write(1);
  ship(pattern);
  await eachOnce(lines);
});

test('sends files that were created and renamed within an outage', async () => {
  let isUp = false;
  const server = await startScriptedServer(({ body }) =>
    isUp
      ? { status: 202, body: { accepted: (JSON.parse(body) as unknown[]).length } }
      : { status: 503 },
  );
  const file = join(folder, 'app.log');
  const isKnown = (count: number) =>
    until(
      async () => {
        const state = join(folder, 'state', 'checkpoints.json');
        return (
          existsSync(state) &&
          Object.keys((JSON.parse(readFileSync(state, 'utf8')) as State).files).length === count
        );
      },
      { what: `${count} files`, everyMs: 50 },
    );
  writeFileSync(file, 'one\n');
  ship(`'${file}'`, { WEIR_RECEIVER_URL: server.url });
  await isKnown(1);
  renameSync(file, `${file}.1`);
  writeFileSync(file, 'two\n');
  await isKnown(2);
  renameSync(file, `${file}.2`);
  writeFileSync(file, 'three\n');
  isUp = true;
  for (const message of ['one', 'two', 'three']) {
    await until(async () => server.seen.some(({ body }) => body.includes(`"${message}"`)), {
      what: message,
      everyMs: 50,
    });
  }
  await server.close();
});

test('follows files beside a link that leads to itself, and finds a rotated one', async () => {
  const file = join(folder, 'app.log');
  const rotated = join(folder, 'app.log.1');
  symlinkSync('app.log.0', join(folder, 'app.log.0'));
  writeFileSync(file, 'one\n');
  const first = ship(`--once '${folder}/app.log*'`);
  assert.equal(await first.exited, 0, first.error());
  appendFileSync(file, 'two\n');
  renameSync(file, rotated);
  const second = ship(`--once '${file}'`);
  assert.equal(await second.exited, 0, second.error());
  await eachOnce(['one', 'two']);
});

/** Root reads everything but for these capabilities. */
const isRoot = process.getuid?.() === 0;
const asReader = isRoot ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : '';
const cannotDrop = isRoot && process.platform !== 'linux' && 'root reads every file';

test('skips files that are not readable, with a reason', { skip: cannotDrop }, async () => {
  const logs = join(folder, 'logs');
  const [closed, open] = ['closed.log', 'open.log'].map((file) => join(logs, file)) as [
    string,
    string,
  ];
  mkdirSync(logs);
  writeFileSync(closed, 'one\n', { mode: 0 });
  writeFileSync(open, 'two\n');
  const reason = /skipping .*closed\.log until it is readable: EACCES: permission denied/;
  const once = ship(`--once '${logs}/*'`, {}, asReader);
  assert.equal(await once.exited, 1);
  assert.match(once.error(), reason);
  await eachOnce(['two']);

  const following = ship(`'${logs}/*'`, {}, asReader);
  await until(async () => reason.test(following.error()), { what: 'a warning', timeoutMs: 30_000 });
  chmodSync(closed, 0o600);
  await eachOnce(['one', 'two']);
  assert.equal(following.error().match(/skipping/g)?.length, 1, following.error());
  // Without search permission for the folder it reads what it has open.
  chmodSync(logs, 0o600);
  await until(async () => /skipping .*open\.log/.test(following.error()), {
    what: 'a warning about the folder',
    timeoutMs: 30_000,
  });
  chmodSync(logs, 0o700);
  appendFileSync(open, 'three\n');
  await eachOnce(['one', 'two', 'three']);
});

test('skips with --from-end what a file contains that is not readable at first', {
  skip: cannotDrop,
}, async () => {
  const [closed, open] = ['closed.log', 'open.log'].map((file) => join(folder, file)) as [
    string,
    string,
  ];
  writeFileSync(closed, 'old\n', { mode: 0 });
  writeFileSync(open, 'old\n');
  const command = ship(`--from-end '${folder}/*.log'`, {}, asReader);
  await until(async () => /skipping .*closed/.test(command.error()), {
    what: 'a warning',
    timeoutMs: 30_000,
  });
  chmodSync(closed, 0o600);
  writeFileSync(join(folder, 'later.log'), 'later\n');
  appendFileSync(open, 'open\n');
  await eachOnce(['later', 'open']);
  appendFileSync(closed, 'closed\n');
  await eachOnce(['later', 'open', 'closed']);
});

test('skips with --from-end the old lines of an unreadable file that is rotated, and no others', {
  skip: cannotDrop,
}, async () => {
  const [file, rotated] = [join(folder, 'app.log'), join(folder, 'app.log.1')];
  const put = (path: string, text: string) => {
    writeFileSync(join(folder, 'unlisted'), text);
    renameSync(join(folder, 'unlisted'), path);
  };
  writeFileSync(file, 'old\n', { mode: 0 });
  const command = ship(`--from-end '${folder}/app.*' '${folder}/app.log*'`, {}, asReader);
  const warned = (warning: RegExp) =>
    until(async () => warning.test(command.error()), { what: 'a warning', timeoutMs: 30_000 });
  await warned(/skipping .*app\.log until/);
  renameSync(file, rotated);
  put(file, 'new\n');
  await eachOnce(['new']);
  await warned(/skipping .*app\.log\.1 until/);
  chmodSync(rotated, 0o600);
  put(join(folder, 'app.later'), 'later\n');
  await eachOnce(['new', 'later']);
  appendFileSync(rotated, 'rest\n');
  await eachOnce(['new', 'later', 'rest']);
  assert.equal(command.error().match(/skipping/g)?.length, 2, command.error());
});

test('takes the name of a file as that file, with signs of a pattern too', async () => {
  const file = join(folder, 'app[1]{a}.log');
  writeFileSync(file, 'one\n');
  const command = ship(`--once '${file}'`);
  assert.equal(await command.exited, 0, command.error());
  await eachOnce(['one']);
});

test('writes no positions while nothing is written to the files', async () => {
  const file = join(folder, 'app.log');
  const checkpoints = join(folder, 'state', 'checkpoints.json');
  writeFileSync(file, 'one\n');
  ship(`'${file}'`);
  await eachOnce(['one']);
  await until(async () => !readFileSync(checkpoints, 'utf8').includes('pending'), {
    what: 'a settled position',
    everyMs: 20,
  });
  const written = statSync(checkpoints);
  await sleep(1000);
  assert.equal(statSync(checkpoints).ino, written.ino);
  assert.equal(statSync(checkpoints).mtimeMs, written.mtimeMs);
});

test('joins lines that continue an event', async () => {
  const file = join(folder, 'app.log');
  const events = [
    '2026-01-01 first',
    '2026-01-01 Error: x\n    at a (b.js:1)\n    at c (d.js:2)',
    '2026-01-01 last',
  ];
  writeFileSync(file, textOf(events));
  const command = ship(`--once --starts-with '^[0-9]{4}-' '${file}'`);
  assert.equal(await command.exited, 0, command.error());
  await eachOnce(events);
});

test('reads the logs of containers', async () => {
  const pod = join(folder, 'pods/shop_web-0_0f7c/nginx');
  mkdirSync(pod, { recursive: true });
  writeFileSync(
    join(pod, '0.log'),
    '2026-01-02T03:04:05.123456789Z stdout P one \n' +
      '2026-01-02T03:04:05.2Z stderr F wrong\n' +
      '2026-01-02T03:04:05.3Z stdout F line\n' +
      '2026-01-02T03:04:06Z stdout F {"msg":"json","level":"warn"}\n',
  );
  const command = ship(`--once --container cri '${join(folder, 'pods/*/*/*.log')}'`);
  assert.equal(await command.exited, 0, command.error());
  const logs = await eachOnce(['one line', 'wrong', 'json']);
  const [one] = logs.filter(({ message }) => message === 'one line');
  assert.equal(one?.timestampNanos.slice(-9), '123456789');
  assert.deepEqual(one?.kubernetes.pod, 'web-0');
  assert.equal(one?.labels['stream'], 'stdout');
  assert.equal(logs.find(({ message }) => message === 'json')?.severity, 'WARN');
});

test('reads the json-file logs of Docker', async () => {
  const file = join(folder, 'x-json.log');
  const entry = (log: string, stream = 'stdout') =>
    `${JSON.stringify({ log, stream, time: '2026-01-02T03:04:05.5Z' })}\n`;
  writeFileSync(file, entry('half ') + entry('whole\n') + entry('error\n', 'stderr'));
  const command = ship(`--once --container docker '${file}'`);
  assert.equal(await command.exited, 0, command.error());
  await eachOnce(['half whole', 'error']);
});

test('reads the journal after the cursor', async () => {
  const entries = (from: number) =>
    [0, 1].map((index) => ({
      __CURSOR: `c${from + index}`,
      __REALTIME_TIMESTAMP: '1767322845000001',
      MESSAGE: `entry\u2028${from + index}`,
      PRIORITY: '4',
      SYSLOG_IDENTIFIER: name,
      _HOSTNAME: 'node-1',
    }));
  // Stands in for journalctl, which needs a journal.
  const program = join(folder, 'journalctl');
  const shell = (from: number) =>
    `#!/bin/sh\necho "$@" >> ${folder}/words\ncat <<'END'\n` +
    `${entries(from)
      .map((one) => JSON.stringify(one))
      .join('\n')}\nEND\n`;
  for (const from of [1, 3]) {
    writeFileSync(program, shell(from), { mode: 0o700 });
    const command = ship('--journal --once', { WEIR_JOURNALCTL: program });
    assert.equal(await command.exited, 0, command.error());
  }
  const logs = await eachOnce([1, 2, 3, 4].map((entry) => `entry\u2028${entry}`));
  assert.deepEqual(
    [logs[0]?.severity, logs[0]?.host, logs[0]?.timestampNanos],
    ['WARNING', 'node-1', '1767322845000001000'],
  );
  assert.match(readFileSync(join(folder, 'words'), 'utf8'), /lines=all[^]*after-cursor=c2/);
});

test('reads entries of the journal again that were waiting when it was interrupted', async () => {
  const read = join(folder, 'read');
  const program = join(folder, 'journalctl');
  const entry = JSON.stringify({ __CURSOR: 'c1', MESSAGE: 'waiting', SYSLOG_IDENTIFIER: name });
  const shell = (rest: string) => `#!/bin/sh\necho '${entry}'\n${rest}\n`;
  writeFileSync(program, shell(`touch ${read}; exec sleep 60`), { mode: 0o700 });
  const command = ship('--journal', { WEIR_JOURNALCTL: program });
  await until(async () => existsSync(read), { what: 'an entry', everyMs: 20 });
  command.kill('SIGINT');
  assert.equal(await command.exited, 130, command.error());
  writeFileSync(program, shell(`[ "$3" = --lines=all ] || exit 1`));
  const next = ship('--journal --once', { WEIR_JOURNALCTL: program });
  assert.equal(await next.exited, 0, next.error());
  await eachOnce(['waiting']);
});

test('has the options of its page', async () => {
  const page = readFileSync('docs/ship.md', 'utf8');
  const lines = page.match(/^weir ship .*$/gm) ?? [];
  assert.ok(lines.length >= 5);
  const help = startInPipes(`${weirWords} ship --help`, {});
  assert.equal(await help.exited, 0);
  for (const option of lines.join(' ').match(/ --[\w-]+/g) ?? []) {
    assert.ok(help.out().includes(option), option);
  }
});

test('refuses a second process on the same positions, and nothing to ship', async () => {
  const file = join(folder, 'app.log');
  writeFileSync(file, 'one\n');
  ship(`'${file}'`);
  await eachOnce(['one']);
  const second = ship(`'${file}'`);
  assert.equal(await second.exited, 1);
  assert.match(second.error(), /another weir ship does .*--state/);
  const none = ship('');
  assert.equal(await none.exited, 2);
  assert.match(none.error(), /give files or --journal/);
});
