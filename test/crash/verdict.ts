/**
 * The promise: every acknowledged event is stored exactly once, an event with a lost response at
 * most as often as it was sent, and no other event. Pure.
 */
import type { LedgerEntry } from './ledger.ts';

/**
 * `keyed` retries with an Idempotency-Key, `plain` never retries, `idempotent` retries samples
 * without a key.
 */
export type Mode = 'keyed' | 'plain' | 'idempotent';

export interface SenderLedger {
  readonly sender: number;
  readonly mode: Mode;
  readonly entries: ReadonlyMap<number, LedgerEntry>;
}

export interface Verdict {
  readonly acknowledged: number;
  /** Events with a lost response, and how many of them are stored. */
  readonly unanswered: number;
  readonly unansweredStored: number;
  readonly lost: number;
  /** Stored more often than allowed. */
  readonly doubled: number;
  /** Stored but never sent. */
  readonly invented: number;
  /** Violations, one sentence each; empty = no violation. */
  readonly faults: readonly string[];
}

/** Identity of an event: its message. */
export function eventName(sender: number, request: number, index: number): string {
  return `sender ${sender} request ${request} event ${index}`;
}

/** @param stored count by message */
export function judge(
  ledgers: readonly SenderLedger[],
  stored: ReadonlyMap<string, number>,
): Verdict {
  const unknown = new Set(stored.keys());
  const faults: string[] = [];
  let acknowledged = 0;
  let unanswered = 0;
  let unansweredStored = 0;
  let lost = 0;
  let doubled = 0;
  for (const event of ledgers.flatMap(eventsOf)) {
    const times = stored.get(event.name) ?? 0;
    unknown.delete(event.name);
    if (event.isAcknowledged) acknowledged++;
    else unanswered++;
    if (!event.isAcknowledged && times > 0) unansweredStored++;
    if (times < event.least) lost++;
    if (times > event.most) doubled++;
    if (times < event.least || times > event.most) {
      const promise = event.isAcknowledged ? 'acknowledged' : `tried ${event.most} times`;
      faults.push(`${event.name} was ${promise} and is stored ${times} times`);
    }
  }
  for (const name of unknown) faults.push(`"${name}" is stored and was never sent`);
  const invented = unknown.size;
  return { acknowledged, unanswered, unansweredStored, lost, doubled, invented, faults };
}

interface LedgerEvent {
  readonly name: string;
  readonly isAcknowledged: boolean;
  /** How often it may be stored. */
  readonly least: number;
  readonly most: number;
}

function eventsOf({ sender, mode, entries }: SenderLedger): LedgerEvent[] {
  return [...entries.values()].flatMap(({ request, events, attempts, acks }) =>
    Array.from({ length: events }, (_, index) => ({
      name: eventName(sender, request, index),
      isAcknowledged: acks > 0,
      least: acks > 0 ? 1 : 0,
      most: acks > 0 || mode !== 'plain' ? 1 : attempts,
    })),
  );
}
