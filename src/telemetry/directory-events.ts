/**
 * What happens at the directory and at the control API, as log lines and metrics. Never a secret or
 * a digest.
 */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

/** A change made through the control API, for the audit log. */
export interface AdminChange {
  /** The operation's id, e.g. `rotateToken`. */
  readonly operation: string;
  /** Public id of the token that asked for it. */
  readonly tokenId: string;
  /** Account it was made in; undefined where it concerns none. */
  readonly accountId: string | undefined;
  /** Id of what was changed, created or deleted. */
  readonly targetId: string;
}

export interface DirectoryEvents {
  /** The directory did not answer; what is cached serves for a while. */
  directoryFailed(error: unknown): void;
  /** It answers again. */
  directoryRecovered(): void;
  /** A start waits for it. @param reason in words */
  directoryAwaited(reason: string, secondsLeft: number): void;
  /** It was waited for, and is there. */
  directoryReached(): void;
  /** It is one that nodes share, and has been opened. */
  sharedDirectoryOpened(): void;
  /** The last use of tokens could not be written; it is tried again with the next ones. */
  lastUsedNotWritten(error: unknown): void;
  /** Changes made by other nodes show when what is cached is old, not at once. */
  changesNotHeard(error: unknown): void;
  /** They show at once again. */
  changesHeard(): void;
  adminChanged(change: AdminChange): void;
}

export function createDirectoryEvents({ log, metrics }: Instruments): DirectoryEvents {
  const failures = new Counter({
    name: 'weir_directory_failures_total',
    help: 'Look-ups and writes that the directory did not answer',
    labelNames: ['work'],
    registers: [metrics],
  });
  const changes = new Counter({
    name: 'weir_admin_changes_total',
    help: 'Changes made through the control API, by operation',
    labelNames: ['operation'],
    registers: [metrics],
  });
  let connected: Gauge | undefined;
  return {
    directoryFailed(error) {
      failures.inc({ work: 'lookup' });
      log.error({ err: error }, 'directory does not answer; serving what is cached');
    },
    directoryRecovered() {
      log.info('directory answers again');
    },
    directoryAwaited(reason, secondsLeft) {
      log.warn({ reason, secondsLeft }, 'waiting for the directory at PostgreSQL');
    },
    directoryReached() {
      log.info('directory at PostgreSQL answers');
    },
    sharedDirectoryOpened() {
      connected = new Gauge({
        name: 'weir_directory_connected',
        help: '1 while this node hears of changes to the directory at PostgreSQL',
        registers: [metrics],
      });
      connected.set(1);
    },
    lastUsedNotWritten(error) {
      failures.inc({ work: 'last_used' });
      log.warn({ err: error }, 'cannot write when tokens were last used; trying again');
    },
    changesNotHeard(error) {
      connected?.set(0);
      failures.inc({ work: 'listen' });
      log.warn({ err: error }, 'cannot hear of changes to the directory; trying again');
    },
    changesHeard() {
      connected?.set(1);
      log.info('changes to the directory are heard again');
    },
    adminChanged(change) {
      changes.inc({ operation: change.operation });
      log.info(change, 'control API change');
    },
  };
}
