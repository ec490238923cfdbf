/** What the handlers of the control API work with. */
import type { Directory } from '../directory/port.ts';
import type { Queue } from '../queue/port.ts';
import type { Store } from '../store/port.ts';
import type { AdminChange } from '../telemetry/node-events.ts';

export interface AdminOptions {
  /**
   * What senders call the ingest port, without a trailing slash; shown in receivers' URLs. Read
   * for each answer anew: where any free port will do, it is known only once the port is open.
   */
  readonly ingestUrl: string;
}

export interface AdminContext {
  readonly directory: Directory;
  readonly store: Pick<Store, 'deleteStreamData'>;
  readonly queue: Pick<Queue, 'drawLine' | 'forgetSeries'>;
  readonly options: AdminOptions;
  /** Unix ms. */
  readonly now: () => number;
  /** To be called after each change: makes it take effect at once and writes the audit log. */
  readonly record: (change: AdminChange) => void;
  /** The same for a change that no request in its way depends on: writes the audit log alone. */
  readonly audit: (change: AdminChange) => void;
}
