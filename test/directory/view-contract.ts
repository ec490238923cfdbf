/** Contract of the directory: saved views. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Directory } from '../../src/directory/port.ts';
import { AppError } from '../../src/model/errors.ts';
import { rejectsWith } from './fixtures.ts';

/** @param current returns the directory of the running test. */
export function viewContract(current: () => Directory): void {
  const createAccount = async (name: string) =>
    (await current().createAccount({ name, eventsPerSecond: null })).accountId;

  test('saves, lists for its account only, changes and deletes a view', async () => {
    const directory = current();
    const accountId = await createAccount('acme');
    const other = await createAccount('other');
    const second = await directory.createView({ accountId, name: 'b', query: 'search=x' }, 10);
    const first = await directory.createView({ accountId, name: 'a', query: '' }, 10);
    assert.match(first.viewId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(await directory.listViews(accountId), [first, second]);
    assert.deepEqual(await directory.listViews(other), []);
    assert.deepEqual(await directory.getView(first.viewId), first);

    const changed = await directory.updateView(first.viewId, { query: 'host=h' });
    assert.equal(changed?.query, 'host=h');
    assert.equal(changed.name, 'a');
    assert.equal(changed.createdAt, first.createdAt);
    assert.ok(changed.updatedAt >= first.updatedAt);
    assert.deepEqual(await directory.getView(first.viewId), changed);

    assert.equal(await directory.deleteView(first.viewId), true);
    assert.equal(await directory.deleteView(first.viewId), false);
    assert.equal(await directory.getView(first.viewId), undefined);
    assert.equal(await directory.updateView(first.viewId, { name: 'x' }), undefined);
  });

  test('refuses a second view with a name, and names the first view', async () => {
    const directory = current();
    const accountId = await createAccount('acme');
    const other = await createAccount('other');
    const taken = await directory.createView({ accountId, name: 'mine', query: '' }, 10);
    const free = await directory.createView({ accountId, name: 'free', query: '' }, 10);
    await directory.createView({ accountId: other, name: 'mine', query: '' }, 10);
    await assert.rejects(
      directory.createView({ accountId, name: 'mine', query: 'x' }, 10),
      (error) =>
        error instanceof AppError &&
        error.code === 'conflict' &&
        error.message.includes(taken.viewId),
    );
    await rejectsWith('conflict', directory.updateView(free.viewId, { name: 'mine' }));
    assert.equal((await directory.updateView(taken.viewId, { name: 'mine' }))?.name, 'mine');
  });

  test('limits the views of an account, and refuses unknown accounts', async () => {
    const directory = current();
    const accountId = await createAccount('acme');
    const view = await directory.createView({ accountId, name: '1', query: '' }, 2);
    await directory.createView({ accountId, name: '2', query: '' }, 2);
    await rejectsWith('conflict', directory.createView({ accountId, name: '3', query: '' }, 2));
    await directory.deleteView(view.viewId);
    await directory.createView({ accountId, name: '3', query: '' }, 2);
    await rejectsWith(
      'not_found',
      directory.createView({ accountId: randomUUID(), name: '1', query: '' }, 2),
    );
  });

  test('deletes views with their account', async () => {
    const directory = current();
    const accountId = await createAccount('acme');
    const view = await directory.createView({ accountId, name: '1', query: '' }, 2);
    assert.equal(await directory.deleteAccount(accountId), true);
    assert.equal(await directory.getView(view.viewId), undefined);
  });
}
