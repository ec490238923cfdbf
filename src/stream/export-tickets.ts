/**
 * Tickets: each stands for one export that was asked for with a token, so that a browser can fetch
 * it with a plain link, at any node. A ticket works once and not for long, and only its digest is
 * kept.
 */
import type { TicketStore } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { randomBase32 } from '../std/random-id.ts';
import type { Reader } from '../model/read-route.ts';
import { digestSecret } from '../codec/token-secret.ts';
import type { ExportEvents } from '../telemetry/request-events.ts';

export interface TicketLimits {
  readonly ttlMs: number;
  /** Of one account, waiting to be used; further ones are refused. */
  readonly maxTickets: number;
}

const defaultLimits: TicketLimits = { ttlMs: 60_000, maxTickets: 1_000 };

/** What is asked for, as it can be kept. */
export interface TicketRequested extends Reader {
  /** As in a URL. */
  readonly query: string;
}

export interface IssuedTicket {
  /** 260 random bits. */
  readonly ticket: string;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

/** A ticket in use: nobody else can use it. */
export interface HeldTicket {
  readonly asked: TicketRequested;
  /** It has brought what it stood for. */
  spend(): void;
  /** It has brought nothing and may be used again; no effect once it is spent. */
  giveBack(): Promise<void>;
}

export interface ExportTickets {
  /** @throws AppError `unavailable` */
  issue(asked: TicketRequested): Promise<IssuedTicket>;
  /** @throws AppError `not_found` where it is unknown, in use, used or too old; `unavailable` */
  take(ticket: string): Promise<HeldTicket>;
}

export function createExportTickets(
  store: TicketStore,
  events: Pick<ExportEvents, 'ticketNotReturned'>,
  limits = defaultLimits,
): ExportTickets {
  return {
    async issue({ accountId, tokenDigest, query }) {
      const ticket = randomBase32(52);
      const kept = { digest: digestSecret(ticket), accountId, tokenDigest, query };
      const expiresAtMs = await store.keepTicket(kept, limits);
      if (expiresAtMs === undefined) throw tooMany(limits);
      return { ticket, expiresAtMs };
    },
    async take(ticket) {
      const taken = await store.takeTicket(digestSecret(ticket));
      if (taken === undefined) throw unknownTicket();
      let isSettled = false;
      return {
        asked: taken,
        spend() {
          isSettled = true;
        },
        async giveBack() {
          if (isSettled) return;
          isSettled = true;
          await store
            .returnTicket(taken)
            .catch((error: unknown) => events.ticketNotReturned(error));
        },
      };
    },
  };
}

function tooMany({ maxTickets }: TicketLimits): AppError {
  const message =
    `cannot give out another ticket: ${maxTickets} of the account wait to be used; ` +
    'try again later';
  return new AppError('unavailable', message, { retryAfterSeconds: 5 });
}

function unknownTicket(): AppError {
  const message =
    'cannot find this export: its ticket was used, has expired or never was; ask for another';
  return new AppError('not_found', message);
}
