/** What the handlers of the control API work with. */
import type { Directory } from '../directory/port.ts';
import type { Store } from '../store/port.ts';
import type { AdminChange } from '../telemetry/directory-events.ts';

export interface AdminContext {
  readonly directory: Directory;
  readonly store: Pick<Store, 'deleteStreamData'>;
  /** What senders call the ingest port, without a trailing slash. */
  readonly ingestUrl: string;
  /** Unix ms. */
  readonly now: () => number;
  /** To be called after each change: makes it take effect at once and writes the audit log. */
  readonly record: (change: AdminChange) => void;
}
