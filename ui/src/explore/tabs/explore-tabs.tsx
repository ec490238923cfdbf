/** The matching logs as a list, as patterns, compared and as statistics. */
import { lazy, type ReactNode, Suspense } from 'react';
import { useScope } from '../../app/context.ts';
import { type Tab, Tabs } from '../../parts/controls/tabs.tsx';
import { Loading } from '../../parts/feedback/loading.tsx';
import type { TabName } from '../query.ts';
import { CompareTab } from './compare-tab.tsx';
import { PatternsTab } from './patterns-tab.tsx';
import type { TabProps } from './tab-answer.tsx';

// It draws lines, which no other tab does.
const StatsTab = lazy(() =>
  import('./stats-tab.tsx').then((module) => ({ default: module.StatsTab })),
);

export function ExploreTabs({ logs, ...props }: TabProps & { readonly logs: ReactNode }) {
  const canCount = useScope('analytics:read');
  const counted: Tab<TabName>[] = [
    { name: 'compare', label: 'Compare', content: <CompareTab {...props} /> },
    {
      name: 'stats',
      label: 'Stats',
      content: (
        <Suspense fallback={<Loading />}>
          <StatsTab {...props} />
        </Suspense>
      ),
    },
  ];
  const tabs: readonly Tab<TabName>[] = [
    { name: 'logs', label: 'Logs', content: logs },
    { name: 'patterns', label: 'Patterns', content: <PatternsTab {...props} /> },
    ...(canCount ? counted : []),
  ];
  const { tab } = props.query;
  return (
    <Tabs
      label="Show as"
      tabs={tabs}
      shown={tabs.some(({ name }) => name === tab) ? tab : 'logs'}
      onShow={(name) => props.onChange({ tab: name })}
      isFilling
    />
  );
}
