/** All routes of the control API. */
import { accountRoutes } from './account-routes.ts';
import type { AdminOptions, AdminParts } from './context.ts';
import { notifierRoutes } from './notifier-routes.ts';
import { receiverRoutes } from './receiver-routes.ts';
import type { AdminRoute } from './routes.ts';
import { ruleRoutes } from './rule-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { viewRoutes } from './view-routes.ts';

/** @param now Unix ms. */
export function adminRoutes(
  parts: AdminParts,
  options: AdminOptions,
  now: () => number = Date.now,
): readonly AdminRoute[] {
  return [
    ...accountRoutes,
    ...streamRoutes,
    ...receiverRoutes,
    ...tokenRoutes,
    ...viewRoutes,
    ...ruleRoutes,
    ...notifierRoutes,
  ].map((route) => route({ ...parts, options, now }));
}
