/**
 * Export tickets. A ticket represents one export requested with a token, so that a browser can
 * fetch it by a plain link from any node. It works once and expires soon; its digest is stored.
 */
import { digestSecret } from '../codec/token-secret.ts';
import type { TicketStore } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import type { Reader } from '../model/read-route.ts';
import { randomBase32 } from '../std/random-id.ts';
import type { ExportEvents } from '../telemetry/request-events.ts';

/** `maxTickets`: unused ones of one account. */
const defaultLimits = { ttlMs: 60_000, maxTickets: 1_000 };

export interface RequestedExport extends Reader {
  /** Query string. */
  readonly query: string;
}

/** A ticket in use by one request. */
export interface HeldTicket {
  readonly requested: RequestedExport;
  /** The export has begun: the ticket is used up. */
  spend(): void;
  /** Lets an unspent ticket be used again; no effect on a spent one. */
  giveBack(): Promise<void>;
}

export type ExportTickets = ReturnType<typeof createExportTickets>;

export function createExportTickets(
  store: TicketStore,
  events: Pick<ExportEvents, 'ticketRestoreFailed'>,
  limits = defaultLimits,
) {
  return {
    /**
     * @returns the ticket, 260 random bits, and when it expires in Unix ms.
     * @throws AppError `unavailable`
     */
    async issue({ accountId, tokenDigest, query }: RequestedExport) {
      const ticket = randomBase32(52);
      const kept = { digest: digestSecret(ticket), accountId, tokenDigest, query };
      const expiresAtMs = await store.keepTicket(kept, limits);
      if (expiresAtMs !== undefined) return { ticket, expiresAtMs };
      const message =
        `cannot issue a ticket: the account has ${limits.maxTickets} unused ones; ` +
        'try again later';
      throw new AppError('unavailable', message, { retryAfterSeconds: 5 });
    },
    /** @throws AppError `not_found` for an unknown, used or expired ticket; `unavailable` */
    async take(ticket: string): Promise<HeldTicket> {
      const taken = await store.takeTicket(digestSecret(ticket));
      if (taken === undefined) {
        const message =
          'cannot find this export: its ticket is unknown, used or expired; request another';
        throw new AppError('not_found', message);
      }
      let isSettled = false;
      return {
        requested: taken,
        spend() {
          isSettled = true;
        },
        async giveBack() {
          if (isSettled) return;
          isSettled = true;
          await store.returnTicket(taken).catch(events.ticketRestoreFailed);
        },
      };
    },
  };
}
