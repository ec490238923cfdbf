/** Contract of the directory: tickets of exports. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Directory, NewTicket } from '../../src/directory/port.ts';
import { newDigest } from './fixtures.ts';

const limits = { ttlMs: 60_000, maxTickets: 10 };

/** @param current returns the directory of the running test. */
export function ticketContract(current: () => Directory): void {
  const newTicket = (accountId: string = randomUUID()): NewTicket => ({
    digest: newDigest(),
    accountId,
    tokenDigest: newDigest(),
    query: 'search=%00caf%C3%A9&limit=5',
  });

  test('returns all fields of a ticket to exactly one of concurrent takers', async () => {
    const directory = current();
    const ticket = newTicket();
    const other = newTicket();
    const before = Date.now();
    const expiresAtMs = await directory.keepTicket(ticket, limits);
    await directory.keepTicket(other, limits);
    assert.ok(expiresAtMs !== undefined && Math.abs(expiresAtMs - before - 60_000) < 30_000);
    const takers = Array.from({ length: 12 }, () => directory.takeTicket(ticket.digest));
    const taken = (await Promise.all(takers)).filter((each) => each !== undefined);
    assert.deepEqual(taken, [{ ...ticket, expiresAtMs }]);
    assert.equal(await directory.takeTicket(ticket.digest), undefined);
    assert.equal((await directory.takeTicket(other.digest))?.query, other.query);
    assert.equal(await directory.takeTicket(newDigest()), undefined);
  });

  test('a returned ticket can be taken once more until its original expiry', async () => {
    const directory = current();
    const ticket = newTicket();
    await directory.keepTicket(ticket, limits);
    const taken = await directory.takeTicket(ticket.digest);
    assert.ok(taken);
    await directory.returnTicket(taken);
    await directory.returnTicket(taken);
    assert.deepEqual(await directory.takeTicket(ticket.digest), taken);
    assert.equal(await directory.takeTicket(ticket.digest), undefined);
    await directory.returnTicket({ ...taken, expiresAtMs: taken.expiresAtMs - 60_000 });
    assert.equal(await directory.takeTicket(ticket.digest), undefined);
  });

  test('limits the tickets of an account, without taken and expired ones', async () => {
    const directory = current();
    const accountId = randomUUID();
    const two = { ttlMs: 60_000, maxTickets: 2 };
    const first = newTicket(accountId);
    const keep = (ticket: NewTicket, ttlMs = two.ttlMs) =>
      directory.keepTicket(ticket, { ...two, ttlMs });
    assert.ok(await keep(first));
    assert.ok(await keep(newTicket(accountId)));
    assert.equal(await keep(newTicket(accountId)), undefined);
    assert.ok(await keep(newTicket()));
    assert.ok(await directory.takeTicket(first.digest));
    const old = newTicket(accountId);
    assert.ok(await keep(old, 0));
    assert.equal(await directory.takeTicket(old.digest), undefined);
    assert.ok(await keep(newTicket(accountId)));
    assert.equal(await keep(newTicket(accountId)), undefined);
  });
}
