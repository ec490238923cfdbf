/** Effects of the operations of the control API, and requests that they refuse. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { z } from 'zod';
import type { AdminCaller } from '../../src/admin/authority.ts';
import type { Receiver, Stream, Token } from '../../src/model/account.ts';
import { AppError } from '../../src/model/errors.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';
import {
  callerWith,
  type ControlPlane,
  createTenant,
  lineNanos,
  nowMs,
  openControlPlane,
  outcomeOf,
  type Tenant,
} from './control-plane.ts';

let plane: ControlPlane;
let tenant: Tenant;
let caller: AdminCaller;
let accountId: string;
beforeEach(async () => {
  plane = await openControlPlane();
  tenant = await createTenant(plane.directory, 'acme');
  caller = callerWith(['admin', 'logs:read', 'operator'], tenant);
  accountId = tenant.account.accountId;
});
afterEach(() => plane.close());

test('creates an active, unlimited receiver and answers its exact URL', async () => {
  const { streamId } = tenant.stream;
  const receiver = await call<Receiver & { url: string }>('createReceiver', {
    body: { name: 'web', kind: 'http_json', streamId, allowedCidrs: ['10.1.2.3/8', '::1'] },
  });
  const { receiverId } = receiver;
  assert.deepEqual(receiver, {
    receiverId,
    accountId,
    streamId,
    name: 'web',
    kind: 'http_json',
    active: true,
    allowedCidrs: ['10.0.0.0/8', '::1/128'],
    limits: { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null },
    transform: [],
    createdAt: new Date(nowMs).toISOString(),
    url: `https://in.example/v1/receivers/${receiverId}/logs`,
    linesUrl: `https://in.example/v1/receivers/${receiverId}/lines`,
  });
  assert.deepEqual(await call('getReceiver', { params: { receiverId } }), receiver);
});

test('a change of a receiver keeps absent fields', async () => {
  const params = { receiverId: tenant.receiver.receiverId };
  const limited = { limits: { eventsPerSecond: 10, burstEvents: 20 } };
  await call('updateReceiver', { params, body: limited });
  const changed = await call<Receiver>('updateReceiver', {
    params,
    body: { active: false, limits: { eventsPerSecond: null } },
  });
  assert.equal(changed.active, false);
  assert.equal(changed.name, tenant.receiver.name);
  const limits = { eventsPerSecond: null, burstEvents: 20, maxBodyBytes: null };
  assert.deepEqual(changed.limits, limits);
});

test('only create and rotate answer a secret; no operation answers a digest', async () => {
  const { receiverId } = tenant.receiver;
  const body = { type: 'ingest', name: 'sender', receiverId };
  const created = await call<Token & { token: string }>('createToken', { body });
  assert.match(created.token, /^wri_/);
  assert.deepEqual(created.scopes, ['ingest:write']);
  const params = { tokenId: created.tokenId };
  const rotated = await call<Token & { token: string }>('rotateToken', { params });
  assert.equal(await plane.directory.findToken(digestSecret(created.token)), undefined);
  assert.ok(await plane.directory.findToken(digestSecret(rotated.token)));
  const others = [
    await call('getToken', { params }),
    await call('listTokens', {}),
    await call('updateToken', { params, body: { name: 'renamed' } }),
    await call('revokeToken', { params }),
  ];
  const text = JSON.stringify([...others, plane.changes]);
  for (const secret of [created.token, rotated.token]) {
    assert.ok(!text.includes(secret), 'the response contains a secret');
  }
  const everything = text + JSON.stringify([created, rotated]);
  assert.ok(!everything.includes(digestSecret(rotated.token)), 'the response contains a digest');
});

test('creates an ingest token without explicit scopes', async () => {
  const { receiverId } = tenant.receiver;
  const body = { type: 'ingest', name: 'mute', receiverId, scopes: [] };
  const created = await call<Token>('createToken', { body });
  assert.deepEqual(created.scopes, []);
});

test('refuses to rotate a revoked token', async () => {
  const body = { type: 'access', name: 'reader', scopes: ['logs:read'] };
  const { tokenId } = await call<Token>('createToken', { body });
  await call('revokeToken', { params: { tokenId } });
  assert.equal(await outcomeOf(call('rotateToken', { params: { tokenId } })), 'conflict');
});

test('records each change with token, account and target', async () => {
  const stream = await call<Stream>('createStream', { body: { name: 'audit' } });
  const { streamId } = stream;
  await call('updateStream', { params: { streamId }, body: { retentionDays: 7 } });
  await call('deleteStream', { params: { streamId } });
  assert.deepEqual(
    plane.changes,
    ['createStream', 'updateStream', 'deleteStream'].map((operation) => ({
      operation,
      tokenId: 'tok_caller',
      accountId,
      targetId: streamId,
    })),
  );
});

test("deleting a stream's data hides earlier data and deletes it in the store", async () => {
  const { streamId } = tenant.stream;
  const stream = await call<Stream>('deleteStreamData', { params: { streamId } });
  assert.equal(stream.dataDeletedUntil, '2026-01-02T03:04:05.999Z');
  assert.deepEqual(plane.deletedData, [{ accountId, streamId, untilNanos: lineNanos }]);
  assert.deepEqual(plane.dropped, [streamId]);
  assert.deepEqual(await plane.directory.getStream(streamId), stream);
});

test('drops batches in quarantine while the store is away, and tells that it is', async () => {
  const { streamId } = tenant.stream;
  plane.failStore();
  const outcome = await outcomeOf(call('deleteStreamData', { params: { streamId } }));
  assert.equal(outcome, 'unavailable');
  assert.deepEqual(plane.dropped, [streamId]);
});

test('tells when the batches in quarantine of a stream cannot be dropped', async () => {
  const { streamId } = await call<Stream>('createStream', { body: { name: 'kept' } });
  plane.failQuarantine();
  const outcome = await outcomeOf(call('deleteStreamData', { params: { streamId } }));
  assert.equal(outcome, 'unavailable');
  await call('deleteStream', { params: { streamId } });
  assert.deepEqual(plane.notDropped, [streamId]);
});

test('forgets series after the line is drawn', async () => {
  await call('deleteStreamData', { params: { streamId: tenant.stream.streamId } });
  assert.deepEqual(plane.queueCalls, ['series forgotten', 'cutoff chosen', 'series forgotten']);
});

test('a refused deletion of a stream keeps its data', async () => {
  const { streamId } = tenant.stream;
  assert.equal(await outcomeOf(call('deleteStream', { params: { streamId } })), 'conflict');
  assert.deepEqual(plane.deletedData, []);
  await call('deleteReceiver', { params: { receiverId: tenant.receiver.receiverId } });
  await call('deleteStream', { params: { streamId } });
  assert.deepEqual(plane.deletedData, [{ accountId, streamId, untilNanos: undefined }]);
});

test('deletes a stream while the store is away, and keeps a record of it', async () => {
  const { streamId } = await call<Stream>('createStream', { body: { name: 'away' } });
  plane.failStore();
  await call('deleteStream', { params: { streamId } });
  assert.equal(await plane.directory.getStream(streamId), undefined);
  assert.deepEqual(await plane.directory.listDeletedStreams(), [{ accountId, streamId }]);
  assert.deepEqual(plane.dropped, [streamId]);
});

test('refuses a retention that ends before a downsampling level', async () => {
  const body = { name: 'levels', retentionDays: 400, downsampling: '30d:5m,180d:1h' };
  const { streamId } = await call<Stream>('createStream', { body });
  const update = (change: object) =>
    call<Stream>('updateStream', { params: { streamId }, body: change });
  const error = await update({ retentionDays: 100 }).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof AppError);
  assert.equal(error.code, 'malformed');
  assert.equal(error.parameter, 'retentionDays');
  assert.match(error.message, /180d:1h is not reached, since data is deleted after 100 days/);
  assert.equal((await plane.directory.getStream(streamId))?.retentionDays, 400);
  const shorter = { retentionDays: 100, downsampling: '30d:5m' };
  assert.partialDeepStrictEqual(await update(shorter), shorter);
  assert.equal(await outcomeOf(update({ downsampling: '100d:1h' })), 'malformed');
});

test('renames a stream of an earlier release, whose level is beyond the retention', async () => {
  const { streamId } = tenant.stream;
  await plane.directory.updateStream(streamId, { downsampling: '30d:5m' });
  await call('updateStream', { params: { streamId }, body: { name: 'renamed' } });
});

const refused: readonly [string, object | null, string, RegExp][] = [
  ['createStream', { name: 'x', accountId: 'other' }, 'accountId', /unknown field "accountId"/],
  ['createStream', { name: 'x', streamId: 'mine' }, 'streamId', /unknown field "streamId"/],
  ['createStream', {}, 'name', /name/],
  ['createStream', { name: '' }, 'name', /name/],
  ['createStream', { name: 'x'.repeat(101) }, 'name', /name/],
  ['createStream', { name: 'a\u001b[2Jb' }, 'name', /control characters/],
  ['createStream', { name: 'x', retentionDays: 0 }, 'retentionDays', /retentionDays/],
  ['createStream', { name: 'x', retentionDays: 3651 }, 'retentionDays', /retentionDays/],
  ['createStream', { name: 'x', retentionDays: 1.5 }, 'retentionDays', /retentionDays/],
  ['createStream', { name: 'x', retentionDays: '7' }, 'retentionDays', /retentionDays/],
  ['createStream', { name: 'x', downsampling: '30d:5m' }, 'downsampling', /30d:5m .* 30 days/],
  ['createStream', null, '', /body/],
  ['createAccount', { name: 'x', eventsPerSecond: 0 }, 'eventsPerSecond', /eventsPerSecond/],
  ['updateReceiver', {}, '', /at least one field/],
  ['updateReceiver', { kind: 'otlp' }, 'kind', /unknown field "kind"/],
  ['updateReceiver', { allowedCidrs: ['10.0.0.0/33'] }, 'allowedCidrs.0', /address range/],
  ['updateReceiver', { limits: { rate: 1 } }, 'limits.rate', /unknown field "limits.rate"/],
  ['createToken', { type: 'access', name: 'x', scopes: [] }, 'scopes', /scopes/],
  ['createToken', { type: 'access', name: 'x', scopes: ['root'] }, 'scopes.0', /scopes/],
  [
    'createToken',
    { type: 'access', name: 'x', scopes: ['admin'], expiresAt: '2026-01-01T00:00:00Z' },
    'expiresAt',
    /that is past/,
  ],
  [
    'createToken',
    { type: 'access', name: 'x', scopes: ['admin'], digest: 'd' },
    'digest',
    /unknown field "digest"/,
  ],
  ['rotateToken', { token: 'wri_mine' }, '', /takes none/],
];
for (const [operation, body, parameter, message] of refused) {
  test(`${operation} refuses ${JSON.stringify(body)?.slice(0, 80)}`, async () => {
    const params = { receiverId: tenant.receiver.receiverId, tokenId: 'tok' };
    await assert.rejects(
      call(operation, { params, body }),
      (error) =>
        error instanceof AppError &&
        error.code === 'malformed' &&
        (error.parameter ?? '') === parameter &&
        message.test(error.message),
    );
  });
}

test('requires X-Active-Account for operations in an account', async () => {
  assert.equal(await outcomeOf(plane.call('listStreams', { caller })), 'malformed');
});

test('describes every operation as JSON Schema', () => {
  for (const { operationId, summary, params, body, response, path } of plane.routes) {
    assert.ok(summary.length > 0, operationId);
    const named = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
    assert.deepEqual(Object.keys(params?.shape ?? {}), named, operationId);
    for (const schema of [params, body]) if (schema) z.toJSONSchema(schema, { io: 'input' });
    if (response) z.toJSONSchema(response, { io: 'output' });
  }
});

interface PlainCall {
  readonly params?: Record<string, string>;
  readonly body?: unknown;
}

function call<Answer = unknown>(operationId: string, request: PlainCall): Promise<Answer> {
  return plane.call<Answer>(operationId, { caller, accountId, ...request });
}
