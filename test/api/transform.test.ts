/** The transform of a receiver over the API: saved, previewed, applied, counted. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { StatisticsAnswer } from '../../src/admin/receiver-statistics.ts';
import { startInPipes, weirWords } from '../cli/weir-command.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

const transform = [
  { type: 'parse', format: 'json' },
  { type: 'drop', where: { field: 'severity', is: 'debug' } },
  { type: 'redact', kinds: ['card'] },
] as const;

test('a transform changes, drops and counts what a receiver stores', async () => {
  const { receiverId } = await createReceiver(service, { transform } as never);
  const { token } = await createIngestToken(service, receiverId);
  const { http_json } = service.quickstart.receivers;
  const events = [
    { message: '{"msg":"paid with 4111 1111 1111 1111","level":"info","user":"ann"}' },
    { message: '{"msg":"noise","level":"debug"}' },
    { message: 'as it is', service_name: 'transformed' },
  ];
  const answer = await service.http.send(http_json.url.replace(http_json.receiverId, receiverId), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  assert.deepEqual([answer.status, answer.json()], [202, { accepted: 3 }]);
  const logs = await until(
    async () => {
      const page = await service.list();
      const own = page.logs.filter((log) => log.receiverId === receiverId);
      return own.length > 0 && own;
    },
    { what: 'the logs' },
  );
  assert.deepEqual(
    logs
      .map(({ message, severity, labels }) => [message, severity, labels] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['as it is', '', {}],
      ['paid with [redacted]', 'INFO', { user: 'ann' }],
    ],
  );
  const { reasons, accepted } = await until(
    async () => {
      const read = await service.admin('GET', `/receivers/${receiverId}/statistics`);
      const counted = read.json<StatisticsAnswer>();
      return counted.accepted > 0 && counted;
    },
    { what: 'the statistics' },
  );
  assert.equal(accepted, 2);
  assert.deepEqual(
    new Map(reasons.map(({ reason, count }) => [reason, count])),
    new Map([
      ['message not parsed', 1],
      ['dropped by the transform', 1],
      ['redacted', 1],
    ]),
  );
  assert.ok(reasons.every(({ advice }) => !advice.startsWith('Read the detail')));
});

test('a transform is tried out without saving it', async () => {
  const { receiverId } = await createReceiver(service);
  const path = `/receivers/${receiverId}/transform/preview`;
  const answer = await service.admin('POST', path, {
    transform,
    samples: [{ message: '{"msg":"m","level":"debug"}' }, { message: '4111111111111111' }],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json(), {
    results: [
      { changes: ['dropped by the transform'] },
      { after: { message: '[redacted]' }, changes: ['message not parsed', 'redacted'] },
    ],
    dropped: 1,
  });
  const saved = await service.admin('GET', `/receivers/${receiverId}`);
  assert.deepEqual(saved.json<{ transform: unknown }>().transform, []);
});

test('a preview takes a hundred logs of 8 KiB', async () => {
  const { receiverId } = await createReceiver(service, { transform } as never);
  const samples = Array.from({ length: 100 }, () => ({ message: 'x'.repeat(8192) }));
  const path = `/receivers/${receiverId}/transform/preview`;
  const answer = await service.admin('POST', path, { samples });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json<{ results: unknown[] }>().results.length, 100);
});

test('a transform is changed and cleared', async () => {
  const { receiverId } = await createReceiver(service, { transform } as never);
  const path = `/receivers/${receiverId}`;
  const changed = await service.admin('PATCH', path, { transform: [transform[1]] });
  assert.equal(changed.json<{ transform: unknown[] }>().transform.length, 1);
  const renamed = await service.admin('PATCH', path, { name: 'other' });
  assert.equal(renamed.json<{ transform: unknown[] }>().transform.length, 1);
  const cleared = await service.admin('PATCH', path, { transform: [] });
  assert.deepEqual(cleared.json<{ transform?: unknown[] }>().transform ?? [], []);
});

test('a wrong transform names the step and the value', async () => {
  const { receiverId } = await createReceiver(service);
  const answer = await service.admin('PATCH', `/receivers/${receiverId}`, {
    transform: [{ type: 'drop', where: { field: 'message', matches: '(?=x)' } }],
  });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /transform.*not an RE2 pattern/);
});

test('a receiver of metrics takes no transform', async () => {
  const { streamId } = service.quickstart;
  const fields = { name: 'm', kind: 'prometheus', streamId, transform };
  const answer = await service.admin('POST', '/receivers', fields);
  assert.equal(answer.status, 400);
  assert.match(answer.text, /cannot transform metrics/);
});

test('weir previews a transform on stored logs, saves and clears it', async () => {
  const { streamUrl, accessToken, accountId, caFile } = service.quickstart;
  const { receiverId } = await createReceiver(service);
  await service.postLogs({ message: 'card 5500 0000 0000 0004 \u001b[2J' });
  await until(async () => (await service.list({ search: '5500' })).logs.length > 0, {
    what: 'the log',
  });
  const folder = temporaryFolder();
  const file = join(folder, 'steps.json');
  writeFileSync(file, JSON.stringify(transform));
  const weir = async (words: string) => {
    const command = startInPipes(`${weirWords} receiver ${words}`, {
      WEIR_URL: streamUrl,
      WEIR_TOKEN: accessToken,
      WEIR_ACCOUNT: accountId,
      WEIR_CA_FILE: caFile,
    });
    assert.equal(await command.exited, 0, command.error());
    return command.out();
  };
  const preview = await weir(`preview-transform ${receiverId} --transform ${file} -n 100`);
  assert.match(preview, /message: "card 5500 0000 0000 0004 .*" -> "card \[redacted\] .*"/);
  assert.ok(!preview.includes('\u001b'), 'a log controls the terminal');
  await weir(`update ${receiverId} --transform ${file}`);
  const saved = await service.admin('GET', `/receivers/${receiverId}`);
  assert.equal(saved.json<{ transform: unknown[] }>().transform.length, 3);
  await weir(`update ${receiverId} --transform none`);
});
