/** All routes of the control API. */
import { accountRoutes } from './account-routes.ts';
import type { AdminContext, AdminOptions, AdminParts } from './context.ts';
import { notifierRoutes } from './notifier-routes.ts';
import { receiverRoutes } from './receiver-routes.ts';
import type { AdminRoute } from './routes.ts';
import { ruleRoutes } from './rule-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { viewRoutes } from './view-routes.ts';

/** @param now Unix ms. */
export function adminRoutes(
  { directory, queue, store, grants, telemetry, ...rules }: AdminParts,
  options: AdminOptions,
  now: () => number = Date.now,
): readonly AdminRoute[] {
  const audit: AdminContext['audit'] = (operation, { caller, accountId }, targetId) =>
    telemetry.adminChanged({ operation, tokenId: caller.tokenId, accountId, targetId });
  const record: AdminContext['record'] = (...change) => {
    grants.invalidate();
    audit(...change);
  };
  const context = { directory, queue, store, options, now, record, audit, ...rules };
  return [
    accountRoutes,
    streamRoutes,
    receiverRoutes,
    tokenRoutes,
    viewRoutes,
    ruleRoutes,
    notifierRoutes,
  ].flatMap((routesOf) => routesOf(context));
}
