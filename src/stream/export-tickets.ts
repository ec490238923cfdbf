/**
 * Tickets: each stands for one export that was asked for with a token, so that a browser can fetch
 * it with a plain link. A ticket works once and not for long, and only its digest is kept.
 */
import { AppError } from '../model/errors.ts';
import { randomBase32 } from '../model/random-id.ts';
import { digestSecret } from '../model/token-secret.ts';
import type { AskedExport } from './exporter.ts';

export interface TicketOptions {
  readonly ttlMs: number;
  /** Tickets that wait to be used; further ones are refused. */
  readonly maxTickets: number;
}

const ticketDefaults: TicketOptions = { ttlMs: 60_000, maxTickets: 1_000 };

export interface IssuedTicket {
  /** 260 random bits. */
  readonly ticket: string;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

/** A ticket in use: nobody else can use it. */
export interface HeldTicket {
  readonly asked: AskedExport;
  /** It has brought what it stood for. */
  spend(): void;
  /** It has brought nothing and may be used again; no effect once it is spent. */
  giveBack(): void;
}

export interface ExportTickets {
  /** @throws AppError `unavailable` */
  issue(asked: AskedExport): IssuedTicket;
  /** @throws AppError `not_found` where it is unknown, in use, used or too old */
  take(ticket: string): HeldTicket;
}

interface Entry {
  readonly asked: AskedExport;
  isHeld: boolean;
}

export function createExportTickets({ ttlMs, maxTickets } = ticketDefaults): ExportTickets {
  const entries = new Map<string, Entry>();
  return {
    issue(asked) {
      if (entries.size >= maxTickets) throw tooMany(maxTickets);
      const ticket = randomBase32(52);
      const digest = digestSecret(ticket);
      entries.set(digest, { asked, isHeld: false });
      setTimeout(() => entries.delete(digest), ttlMs).unref();
      return { ticket, expiresAtMs: Date.now() + ttlMs };
    },
    take(ticket) {
      const digest = digestSecret(ticket);
      const entry = entries.get(digest);
      if (entry === undefined || entry.isHeld) throw unknownTicket();
      entry.isHeld = true;
      return {
        asked: entry.asked,
        spend: () => void entries.delete(digest),
        giveBack() {
          entry.isHeld = false;
        },
      };
    },
  };
}

function tooMany(maxTickets: number): AppError {
  const message = `cannot give out more than ${maxTickets} tickets at a time: try again later`;
  return new AppError('unavailable', message, { retryAfterSeconds: 5 });
}

function unknownTicket(): AppError {
  const message =
    'cannot find this export: its ticket was used, has expired or never was; ask for another';
  return new AppError('not_found', message);
}
