/**
 * The log of one sender: `try <request> <events>` before each attempt and `ack <request>` after an
 * acknowledgement, which counts once the line is synced.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';

export interface Ledger {
  noteAttempt(request: number, events: number): void;
  /** Returns once the line is synced. */
  noteAck(request: number): void;
  close(): void;
}

export interface LedgerEntry {
  readonly request: number;
  readonly events: number;
  attempts: number;
  acks: number;
}

export function openLedger(file: string): Ledger {
  const fd = openSync(file, 'a');
  return {
    noteAttempt: (request, events) => void writeSync(fd, `try ${request} ${events}\n`),
    noteAck: (request) => {
      writeSync(fd, `ack ${request}\n`);
      fdatasyncSync(fd);
    },
    close: () => closeSync(fd),
  };
}

export function readLedger(file: string): Map<number, LedgerEntry> {
  const entries = new Map<number, LedgerEntry>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [word, request, events] = line.split(' ');
    if (word === 'try') {
      const known = entries.get(Number(request));
      if (known !== undefined) known.attempts++;
      else entries.set(Number(request), newEntry(Number(request), Number(events)));
    } else if (word === 'ack') {
      const known = entries.get(Number(request));
      if (known === undefined) {
        throw new Error(`cannot read ${file}: ack of unknown ${request ?? ''}`);
      }
      known.acks++;
    }
  }
  return entries;
}

function newEntry(request: number, events: number): LedgerEntry {
  return { request, events, attempts: 1, acks: 0 };
}
