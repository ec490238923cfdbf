/** Alerts of the account: active ones, their history, the rules that raise them, notifiers. */
import { Link } from 'wouter';
import { navigate, useSearch } from 'wouter/use-browser-location';
import { Tabs } from '../parts/controls/tabs.tsx';
import { Page } from '../parts/layout/page.tsx';
import { ActiveAlerts } from './active-alerts.tsx';
import { AlertHistoryTab } from './alert-history-tab.tsx';
import { useCanEdit } from './alert-reads.ts';
import styles from './alerts-page.module.css';
import { Notifiers } from './notifiers.tsx';
import { RuleGroups } from './rule-groups.tsx';

const tabNames = ['alerts', 'history', 'rules', 'notifiers'] as const;
type TabName = (typeof tabNames)[number];

export function AlertsPage() {
  const parameters = new URLSearchParams(useSearch());
  const canEdit = useCanEdit();
  const names = canEdit ? tabNames : tabNames.filter((name) => name !== 'notifiers');
  const asked = parameters.get('tab');
  const shown = names.find((name) => name === asked) ?? 'alerts';
  const show = (tab: TabName) => navigate(tab === 'alerts' ? '/alerts' : `/alerts?tab=${tab}`);
  return (
    <Page
      title="Alerts"
      actions={
        canEdit && (
          <Link href="/alerts/edit" className={styles.create}>
            New rules
          </Link>
        )
      }
    >
      <Tabs
        label="Alerts"
        shown={shown}
        onShow={show}
        tabs={[
          { name: 'alerts', label: 'Active', content: <ActiveAlerts /> },
          {
            name: 'history',
            label: 'History',
            content: <AlertHistoryTab alertname={parameters.get('alert') ?? ''} />,
          },
          { name: 'rules', label: 'Rules', content: <RuleGroups /> },
          ...(canEdit
            ? [{ name: 'notifiers' as const, label: 'Notifiers', content: <Notifiers /> }]
            : []),
        ]}
      />
    </Page>
  );
}
