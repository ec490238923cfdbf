/** A ticket works once, for a minute, for whoever comes first. */
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createExportTickets } from './export-tickets.ts';
import type { AskedExport } from './exporter.ts';

const asked = { accountId: 'acme' } as AskedExport;

const fails = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 });
});

test('a ticket brings what was asked for', () => {
  const tickets = createExportTickets();
  const { ticket, expiresAtMs } = tickets.issue(asked);
  assert.match(ticket, /^[a-z2-7]{52}$/);
  assert.equal(expiresAtMs, 61_000);
  assert.equal(tickets.take(ticket).asked, asked);
});

test('it is nobody else’s while it is used, nor after', () => {
  const tickets = createExportTickets();
  const { ticket } = tickets.issue(asked);
  const held = tickets.take(ticket);
  assert.throws(() => tickets.take(ticket), fails('not_found'));
  held.spend();
  held.giveBack();
  assert.throws(() => tickets.take(ticket), fails('not_found'));
});

test('given back unspent, it works again', () => {
  const tickets = createExportTickets();
  const { ticket } = tickets.issue(asked);
  tickets.take(ticket).giveBack();
  assert.equal(tickets.take(ticket).asked, asked);
});

test('it expires, given back or not', () => {
  const tickets = createExportTickets();
  const first = tickets.issue(asked);
  const second = tickets.issue(asked);
  const held = tickets.take(second.ticket);
  mock.timers.tick(59_999);
  tickets.take(first.ticket).giveBack();
  mock.timers.tick(1);
  held.giveBack();
  for (const { ticket } of [first, second]) {
    assert.throws(() => tickets.take(ticket), fails('not_found'));
  }
});

test('others are unknown', () => {
  const tickets = createExportTickets();
  const { ticket } = tickets.issue(asked);
  for (const other of ['', ticket.slice(1), ticket.toUpperCase(), `${ticket} `]) {
    assert.throws(() => tickets.take(other), fails('not_found'));
  }
});

test('so many wait at once; what is spent or expired makes room', () => {
  const tickets = createExportTickets({ ttlMs: 60_000, maxTickets: 2 });
  const { ticket } = tickets.issue(asked);
  tickets.issue(asked);
  assert.throws(() => tickets.issue(asked), fails('unavailable'));
  tickets.take(ticket).spend();
  tickets.issue(asked);
  mock.timers.tick(60_000);
  tickets.issue(asked);
  tickets.issue(asked);
  assert.throws(() => tickets.issue(asked), fails('unavailable'));
});
