/** Saved views: limits and ownership. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { View } from '../../src/model/account.ts';
import { createAccessToken } from '../harness/control.ts';
import type { Answer } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';

type ViewAnswer = Omit<View, 'accountId'>;

let service: Service;
let readerToken: string;
before(async () => {
  service = await joinService();
  readerToken = (await createAccessToken(service, ['logs:read'])).token;
});
after(() => service.stop());

function call(
  method: string,
  path: string,
  body?: unknown,
  { token = readerToken, accountId = service.quickstart.accountId } = {},
): Promise<Answer> {
  return service.http.send(`${service.quickstart.streamUrl}/api/v1/admin/views${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-active-account': accountId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function save(name: string, query = 'search=x'): Promise<ViewAnswer> {
  const answer = await call('POST', '', { name, query });
  assert.equal(answer.status, 201, answer.text);
  return answer.json<ViewAnswer>();
}

test('a reader creates, lists, changes and deletes a view', async () => {
  const query = 'search=%22time%20out%22&severity=ERROR&label=a:b';
  const view = await save('errors', query);
  assert.equal(view.query, query);
  assert.deepEqual(Object.keys(view), ['viewId', 'name', 'query', 'createdAt', 'updatedAt']);
  assert.deepEqual((await call('GET', '')).json(), { views: [view] });
  assert.deepEqual((await call('GET', `/${view.viewId}`)).json(), view);
  const changed = await call('PATCH', `/${view.viewId}`, { name: 'all errors' });
  assert.equal(changed.json<ViewAnswer>().name, 'all errors');
  assert.equal(changed.json<ViewAnswer>().query, query);
  assert.equal((await call('DELETE', `/${view.viewId}`)).status, 204);
  assert.equal((await call('GET', `/${view.viewId}`)).status, 404);
  assert.deepEqual((await call('GET', '')).json(), { views: [] });
});

test('refuses a duplicate name and quotes it', async () => {
  const first = await save('taken');
  const second = await save('free');
  const answers = [
    await call('POST', '', { name: 'taken', query: '' }),
    await call('PATCH', `/${second.viewId}`, { name: 'taken' }),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.text, /cannot call the view \\"taken\\"/);
    assert.ok(answer.text.includes(first.viewId));
  }
});

test('refuses an invalid view', async () => {
  const bodies = [
    { name: 'x' },
    { query: '' },
    { name: '', query: '' },
    { name: 'line\nbreak', query: '' },
    { name: 'x'.repeat(101), query: '' },
    { name: 'x', query: '?search=x' },
    { name: 'x', query: 'a\u0000b' },
    { name: 'x', query: 'a\nb' },
    { name: 'x', query: 'x'.repeat(8001) },
    { name: 'x', query: '', accountId: service.quickstart.accountId },
  ];
  for (const body of bodies) {
    const answer = await call('POST', '', body);
    assert.equal(answer.status, 400, JSON.stringify(body).slice(0, 80));
  }
  const { viewId } = await save('longest', 'x'.repeat(8000));
  assert.equal((await call('PATCH', `/${viewId}`, {})).status, 400);
  assert.equal((await call('GET', '/no-uuid')).status, 400);
});

test('views are visible to log readers of one account', async () => {
  const { viewId } = await save('mine');
  const other = await service.admin('POST', '/accounts', { name: 'another' });
  const { accountId } = other.json<{ accountId: string }>();
  const { token } = await createAccessToken(service, ['logs:read'], [accountId]);
  const foreign = { token, accountId };
  assert.deepEqual((await call('GET', '', undefined, foreign)).json(), { views: [] });
  assert.equal((await call('GET', `/${viewId}`, undefined, foreign)).status, 404);
  assert.equal((await call('PATCH', `/${viewId}`, { name: 'x' }, foreign)).status, 404);
  assert.equal((await call('DELETE', `/${viewId}`, undefined, foreign)).status, 404);
  assert.equal(
    (await call('GET', '', undefined, { ...foreign, accountId: undefined })).status,
    403,
  );
  const analyst = await createAccessToken(service, ['analytics:read']);
  assert.equal((await call('GET', '', undefined, { token: analyst.token })).status, 403);
  assert.equal((await call('GET', `/${viewId}`)).status, 200);
});
