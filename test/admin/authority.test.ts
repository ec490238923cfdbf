/** Authorization of each operation, for each kind of caller, in own and other accounts. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { AdminCaller } from '../../src/admin/authority.ts';
import type { Account, Token } from '../../src/model/account.ts';
import {
  callerWith,
  type ControlPlane,
  createTenant,
  openControlPlane,
  outcomeOf,
  type Tenant,
} from './control-plane.ts';

let plane: ControlPlane;
let own: Tenant;
let foreign: Tenant;
beforeEach(async () => {
  plane = await openControlPlane();
  own = await createTenant(plane.directory, 'own');
  foreign = await createTenant(plane.directory, 'foreign');
});
afterEach(() => plane.close());

test('each operation requires its scope, and operator includes admin', async () => {
  const bodies: Record<string, object> = {
    createAccount: { name: 'new' },
    updateAccount: { name: 'new' },
    createStream: { name: 'new' },
    updateStream: { name: 'new' },
    createReceiver: { name: 'new', kind: 'otlp', streamId: own.stream.streamId },
    updateReceiver: { name: 'new' },
    createToken: { type: 'access', name: 'new', scopes: ['logs:read'] },
    updateToken: { name: 'new' },
    createView: { name: 'new', query: '' },
    updateView: { name: 'newer' },
    checkRules: { rules: '{groups: []}' },
    putRuleFile: { rules: '{groups: []}' },
    previewRules: { rules: '{groups: []}' },
    previewTransform: { transform: [], samples: [{ message: 'one' }] },
    createNotifier: { name: 'new', kind: 'webhook', url: 'https://hooks.example' },
  };
  const operations = plane.routes.map((route) => route.operationId);
  assert.equal(new Set(operations).size, operations.length);
  for (const { operationId, scope } of plane.routes) {
    const reader = callerWith(['logs:read', 'analytics:read', 'metrics:read'], own);
    const admin = callerWith(['admin', 'logs:read'], own);
    const operator = callerWith(['operator', 'logs:read']);
    const outcomes = [];
    for (const caller of [reader, admin, operator]) {
      const token = await createToken(own);
      const body = bodies[operationId];
      const params = paramsOf(own, token.tokenId);
      const call = { caller, accountId: own.account.accountId, params, body };
      const outcome = await outcomeOf(plane.call(operationId, call));
      // An earlier caller may have changed the resource, so another refusal is fine.
      outcomes.push(['conflict', 'not_found'].includes(outcome) ? 'ok' : outcome);
      await restore();
    }
    const expected = {
      none: ['ok', 'ok', 'ok'],
      admin: ['forbidden', 'ok', 'ok'],
      operator: ['forbidden', 'forbidden', 'ok'],
      'logs:read': ['ok', 'ok', 'ok'],
    }[scope ?? 'none'];
    assert.deepEqual(outcomes, expected, operationId);
  }
});

test('refuses an admin in another account', async () => {
  const caller = callerWith(['admin'], own);
  for (const { operationId, accountScoped } of plane.routes) {
    if (!accountScoped) continue;
    const params = paramsOf(foreign, (await createToken(foreign)).tokenId);
    const call = { caller, accountId: foreign.account.accountId, params };
    assert.equal(await outcomeOf(plane.call(operationId, call)), 'forbidden', operationId);
  }
});

test('answers not_found for ids of other accounts', async () => {
  const foreignToken = await createToken(foreign);
  const bodies: Record<string, object> = {
    updateAccount: { name: 'taken' },
    updateStream: { name: 'taken' },
    updateReceiver: { name: 'taken' },
    updateToken: { name: 'taken' },
    updateView: { name: 'taken' },
    putRuleFile: { rules: '{groups: []}' },
    previewRules: { rules: '{groups: []}' },
    previewTransform: { transform: [], samples: [{ message: 'one' }] },
  };
  const callers = [
    callerWith(['admin', 'logs:read'], own),
    callerWith(['operator', 'admin', 'logs:read'], own),
  ];
  for (const caller of callers) {
    for (const { operationId, path, accountScoped } of plane.routes) {
      if (!path.includes(':') || !accountScoped) continue;
      const params = paramsOf(foreign, foreignToken.tokenId);
      const accountId = own.account.accountId;
      const call = { caller, accountId, params, body: bodies[operationId] };
      assert.equal(await outcomeOf(plane.call(operationId, call)), 'not_found', operationId);
    }
  }
  const admin = callerWith(['admin'], own);
  const params = { accountId: foreign.account.accountId };
  assert.equal(await outcomeOf(plane.call('getAccount', { caller: admin, params })), 'not_found');
  const body = { name: 'taken' };
  assert.equal(
    await outcomeOf(plane.call('updateAccount', { caller: admin, params, body })),
    'not_found',
  );
  assert.deepEqual(plane.changes, []);
});

test('refuses a receiver that feeds a stream of another account', async () => {
  const call = { caller: callerWith(['admin'], own), accountId: own.account.accountId };
  const { streamId } = foreign.stream;
  const body = { name: 'new', kind: 'otlp', streamId };
  assert.equal(await outcomeOf(plane.call('createReceiver', { ...call, body })), 'not_found');
  const params = { receiverId: own.receiver.receiverId };
  const change = { ...call, params, body: { streamId } };
  assert.equal(await outcomeOf(plane.call('updateReceiver', change)), 'not_found');
});

const grants: readonly [string, () => AdminCaller, () => object, string][] = [
  [
    'a scope it has',
    () => callerWith(['admin', 'logs:read'], own),
    () => ({ scopes: ['logs:read'] }),
    'ok',
  ],
  ['admin', () => callerWith(['admin'], own), () => ({ scopes: ['admin'] }), 'ok'],
  [
    'a scope it lacks',
    () => callerWith(['admin'], own),
    () => ({ scopes: ['logs:read'] }),
    'forbidden',
  ],
  ['operator', () => callerWith(['admin'], own), () => ({ scopes: ['operator'] }), 'forbidden'],
  [
    'another account',
    () => callerWith(['admin'], own),
    () => ({ scopes: ['admin'], accountIds: [own.account.accountId, foreign.account.accountId] }),
    'forbidden',
  ],
  [
    'every account',
    () => callerWith(['admin'], own),
    () => ({ scopes: ['admin'], accountIds: [] }),
    'malformed',
  ],
  [
    'every account, as operator',
    () => callerWith(['operator']),
    () => ({ scopes: ['operator'], accountIds: [] }),
    'ok',
  ],
  [
    'another account, as operator',
    () => callerWith(['operator'], own),
    () => ({ scopes: ['admin'], accountIds: [foreign.account.accountId] }),
    'ok',
  ],
  [
    'a scope it lacks, as operator',
    () => callerWith(['operator'], own),
    () => ({ scopes: ['logs:read'] }),
    'forbidden',
  ],
];
for (const [what, caller, fields, outcome] of grants) {
  test(`granting ${what}: ${outcome}`, async () => {
    const body = { type: 'access', name: 'new', ...fields() };
    const call = { caller: caller(), accountId: own.account.accountId, body };
    assert.equal(await outcomeOf(plane.call('createToken', call)), outcome);
  });
}

test('refuses to rotate, extend or revoke a token with more grants', async () => {
  const admin = callerWith(['admin'], own);
  const reader = await createToken(own, { scopes: ['logs:read'] });
  const operator = await createToken(own, { scopes: ['operator'] });
  const both = await createToken(own, {
    scopes: ['admin'],
    accountIds: [own.account.accountId, foreign.account.accountId],
  });
  const outcomes: Record<string, string[]> = {};
  for (const operation of ['rotateToken', 'updateToken', 'revokeToken', 'deleteToken']) {
    outcomes[operation] = [];
    for (const { tokenId } of [reader, operator, both]) {
      const call = { caller: admin, accountId: own.account.accountId, params: { tokenId } };
      const body = operation === 'updateToken' ? { expiresAt: null } : undefined;
      outcomes[operation].push(await outcomeOf(plane.call(operation, { ...call, body })));
    }
  }
  assert.deepEqual(outcomes, {
    rotateToken: ['forbidden', 'forbidden', 'forbidden'],
    updateToken: ['forbidden', 'forbidden', 'forbidden'],
    revokeToken: ['ok', 'forbidden', 'forbidden'],
    deleteToken: ['ok', 'forbidden', 'forbidden'],
  });
});

test('hides the other accounts of a shared token', async () => {
  const accountIds = [own.account.accountId, foreign.account.accountId];
  const { tokenId } = await createToken(own, { accountIds });
  const accountId = own.account.accountId;
  const admin = callerWith(['admin'], own);
  const seen = await plane.call<Token>('getToken', {
    caller: admin,
    accountId,
    params: { tokenId },
  });
  assert.deepEqual(seen.accountIds, [accountId]);
  const operator = callerWith(['operator']);
  const all = await plane.call<Token>('getToken', {
    caller: operator,
    accountId,
    params: { tokenId },
  });
  assert.deepEqual(all.accountIds, [...accountIds].sort());
});

test('shows tokens of all accounts to operators only', async () => {
  const everywhere = { scopes: ['operator'], accountIds: [], allAccounts: true } as const;
  const { tokenId } = await createToken(own, everywhere);
  const accountId = own.account.accountId;
  const ids = async (caller: AdminCaller) => {
    const { tokens } = await plane.call<{ tokens: Token[] }>('listTokens', { caller, accountId });
    return tokens.map((token) => token.tokenId);
  };
  assert.deepEqual(await ids(callerWith(['admin'], own)), []);
  assert.deepEqual(await ids(callerWith(['operator'])), [tokenId]);
});

test('an admin can rename its account but not change its quota', async () => {
  const caller = callerWith(['admin'], own);
  const params = { accountId: own.account.accountId };
  const call = (body: object) => outcomeOf(plane.call('updateAccount', { caller, params, body }));
  assert.equal(await call({ name: 'renamed' }), 'ok');
  assert.equal(await call({ eventsPerSecond: null }), 'forbidden');
});

test('whoami and the list of accounts show the accounts of the token', async () => {
  const names = async (operation: string, caller: AdminCaller) => {
    const { accounts } = await plane.call<{ accounts: Account[] }>(operation, { caller });
    return accounts.map((account) => account.name);
  };
  assert.deepEqual(await names('whoami', callerWith(['logs:read'], own)), ['own']);
  assert.deepEqual(await names('listAccounts', callerWith(['admin'], own)), ['own']);
  assert.deepEqual((await names('listAccounts', callerWith(['operator']))).sort(), [
    'foreign',
    'own',
  ]);
});

function paramsOf(tenant: Tenant, tokenId: string): Record<string, string> {
  return {
    accountId: tenant.account.accountId,
    streamId: tenant.stream.streamId,
    receiverId: tenant.receiver.receiverId,
    viewId: tenant.view.viewId,
    name: 'rules',
    notifierId: '5f0c7d52-9c2f-4b6e-8f7e-0d1c2b3a4958',
    tokenId,
  };
}

function createToken(tenant: Tenant, fields: Partial<Token> = {}): Promise<Token> {
  return plane.directory.createToken({
    type: 'access',
    name: 'existing',
    accountIds: [tenant.account.accountId],
    allAccounts: false,
    receiverId: null,
    scopes: ['logs:read'],
    expiresAt: null,
    digest: crypto.randomUUID(),
    ...fields,
  });
}

/** Recreates resources that an operation has deleted. */
async function restore(): Promise<void> {
  if (!(await plane.directory.getReceiver(own.receiver.receiverId))) {
    own = await createTenant(plane.directory, 'own');
  }
}
