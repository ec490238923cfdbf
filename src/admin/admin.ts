/** The control API: every route of it, over the directory. */
import type { Directory } from '../directory/port.ts';
import type { Queue } from '../queue/port.ts';
import type { Store } from '../store/port.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { accountRoutes } from './account-routes.ts';
import type { AdminContext, AdminOptions } from './context.ts';
import { receiverRoutes } from './receiver-routes.ts';
import type { AdminRoute } from './routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { viewRoutes } from './view-routes.ts';

export interface AdminParts {
  readonly directory: Directory;
  /** The cached view of the directory, told of each change so that it takes effect at once. */
  readonly grants: { invalidate(): void };
  /**
   * Tells what was received before a deletion from what comes after it, and every gateway that
   * labels are gone with other data.
   */
  readonly queue: Pick<Queue, 'drawLine' | 'forgetSeries'>;
  readonly store: Pick<Store, 'deleteStreamData'>;
  readonly telemetry: Pick<DirectoryEvents, 'adminChanged'>;
}

/** @param now Unix ms. */
export function adminRoutes(
  parts: AdminParts,
  options: AdminOptions,
  now: () => number = Date.now,
): readonly AdminRoute[] {
  const context: AdminContext = {
    directory: parts.directory,
    queue: parts.queue,
    store: parts.store,
    options,
    now,
    record(change) {
      parts.grants.invalidate();
      parts.telemetry.adminChanged(change);
    },
    audit: (change) => parts.telemetry.adminChanged(change),
  };
  return [
    ...accountRoutes(context),
    ...streamRoutes(context),
    ...receiverRoutes(context),
    ...tokenRoutes(context),
    ...viewRoutes(context),
  ];
}
