/** A ticket works once, and only its digest is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TakenTicket, TicketStore } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { digestSecret } from '../codec/token-secret.ts';
import { createExportTickets } from './export-tickets.ts';

const asked = { accountId: 'acme', tokenDigest: 'of the token', query: 'limit=1' };
const expiresAtMs = 61_000;

const fails = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

function open() {
  const kept = new Map<string, TakenTicket>();
  const world = { kept, notReturned: [] as unknown[], isAway: false };
  const refuse = () => {
    if (world.isAway) throw new AppError('unavailable', 'away');
  };
  const store: TicketStore = {
    async keepTicket(ticket, { maxTickets }) {
      refuse();
      if (kept.size >= maxTickets) return undefined;
      kept.set(ticket.digest, { ...ticket, expiresAtMs });
      return expiresAtMs;
    },
    async takeTicket(digest) {
      refuse();
      const ticket = kept.get(digest);
      kept.delete(digest);
      return ticket;
    },
    async returnTicket(ticket) {
      refuse();
      kept.set(ticket.digest, ticket);
    },
  };
  const events = { ticketRestoreFailed: (error: unknown) => void world.notReturned.push(error) };
  return { world, tickets: createExportTickets(store, events, { ttlMs: 60_000, maxTickets: 2 }) };
}

test('a ticket returns the requested export', async () => {
  const { tickets, world } = open();
  const issued = await tickets.issue(asked);
  assert.match(issued.ticket, /^[a-z2-7]{52}$/);
  assert.equal(issued.expiresAtMs, expiresAtMs);
  assert.deepEqual([...world.kept.keys()], [digestSecret(issued.ticket)]);
  assert.ok(!JSON.stringify([...world.kept]).includes(issued.ticket));
  const { accountId, tokenDigest, query } = (await tickets.take(issued.ticket)).requested;
  assert.deepEqual({ accountId, tokenDigest, query }, asked);
});

test('rejects a ticket that is in use or used', async () => {
  const { tickets } = open();
  const { ticket } = await tickets.issue(asked);
  const held = await tickets.take(ticket);
  await assert.rejects(tickets.take(ticket), fails('not_found'));
  held.spend();
  await held.giveBack();
  await assert.rejects(tickets.take(ticket), fails('not_found'));
});

test('an unspent ticket that is given back works once more', async () => {
  const { tickets } = open();
  const { ticket } = await tickets.issue(asked);
  const held = await tickets.take(ticket);
  await held.giveBack();
  await tickets.take(ticket);
  await held.giveBack();
  await assert.rejects(tickets.take(ticket), fails('not_found'));
});

test('reports a ticket that cannot be given back', async () => {
  const { tickets, world } = open();
  const held = await tickets.take((await tickets.issue(asked)).ticket);
  world.isAway = true;
  await held.giveBack();
  assert.equal(world.notReturned.length, 1);
  await assert.rejects(tickets.issue(asked), fails('unavailable'));
  await assert.rejects(tickets.take('x'), fails('unavailable'));
});

test('refuses a ticket beyond the limit of the account', async () => {
  const { tickets } = open();
  const { ticket } = await tickets.issue(asked);
  await tickets.issue(asked);
  await assert.rejects(tickets.issue(asked), fails('unavailable'));
  await tickets.take(ticket);
  await tickets.issue(asked);
});
