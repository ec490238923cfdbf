/** The pages with their paths and scopes. The service serves the same paths. */
import { type ComponentType, lazy } from 'react';
import type { WhoAmI } from '../api/models.ts';

export interface Page {
  /** Pattern of wouter. */
  readonly path: string;
  readonly title: string;
  /** Label in the navigation; absent = linked from another page. */
  readonly label?: string;
  readonly scope: WhoAmI['scopes'][number];
  readonly Page: ComponentType;
}

export const pages: readonly Page[] = [
  {
    path: '/explore/logs',
    title: 'Logs',
    label: 'Logs',
    scope: 'logs:read',
    Page: lazy(() => import('../explore/logs-page.tsx').then((m) => ({ default: m.LogsPage }))),
  },
  {
    path: '/explore/traces/:traceId',
    title: 'Trace',
    scope: 'logs:read',
    Page: lazy(() =>
      import('../explore/trace/trace-page.tsx').then((m) => ({ default: m.TracePage })),
    ),
  },
  {
    path: '/explore/metrics',
    title: 'Metrics',
    label: 'Metrics',
    scope: 'metrics:read',
    Page: lazy(() =>
      import('../metrics/metrics-page.tsx').then((m) => ({ default: m.MetricsPage })),
    ),
  },
  {
    path: '/alerts',
    title: 'Alerts',
    label: 'Alerts',
    scope: 'metrics:read',
    Page: lazy(() => import('../alerts/alerts-page.tsx').then((m) => ({ default: m.AlertsPage }))),
  },
  {
    path: '/alerts/edit',
    title: 'Rules',
    scope: 'admin',
    Page: lazy(() =>
      import('../alerts/edit-rules-page.tsx').then((m) => ({ default: m.EditRulesPage })),
    ),
  },
  {
    path: '/receivers',
    title: 'Receivers',
    label: 'Receivers',
    scope: 'admin',
    Page: lazy(() =>
      import('../receivers/receivers-page.tsx').then((m) => ({ default: m.ReceiversPage })),
    ),
  },
  {
    path: '/receivers/:receiverId',
    title: 'Receiver',
    scope: 'admin',
    Page: lazy(() =>
      import('../receivers/receiver-page.tsx').then((m) => ({ default: m.ReceiverPage })),
    ),
  },
  {
    path: '/streams',
    title: 'Streams',
    label: 'Streams',
    scope: 'admin',
    Page: lazy(() =>
      import('../streams/streams-page.tsx').then((m) => ({ default: m.StreamsPage })),
    ),
  },
  {
    path: '/tokens',
    title: 'Tokens',
    label: 'Tokens',
    scope: 'admin',
    Page: lazy(() => import('../tokens/tokens-page.tsx').then((m) => ({ default: m.TokensPage }))),
  },
  {
    path: '/accounts',
    title: 'Accounts',
    label: 'Accounts',
    scope: 'operator',
    Page: lazy(() =>
      import('../accounts/accounts-page.tsx').then((m) => ({ default: m.AccountsPage })),
    ),
  },
];

/** The first page that these scopes can open. */
export function homeOf(scopes: WhoAmI['scopes']): string {
  const first = pages.find(({ label, scope }) => label !== undefined && scopes.includes(scope));
  return first?.path ?? '/explore/logs';
}
