/** The logs page: search on top, facets beside, logs below. */
import { useMemo, useState } from 'react';
import type { Facet, Histogram } from '../api/models.ts';
import { useScope } from '../app/context.ts';
import { useShortcuts } from '../parts/controls/shortcuts.ts';
import { AlertLink } from '../links/alert-link.tsx';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Sheet } from '../parts/layout/sheet.tsx';
import { useMedia } from '../parts/layout/use-media.ts';
import { facetFieldNames, FacetSidebar } from './facets/facet-sidebar.tsx';
import { FilterChips } from './filter-chips.tsx';
import { HistogramPanel } from './histogram-panel.tsx';
import { SearchHits, toHits } from './log/search-hits.ts';
import styles from './logs-page.module.css';
import { NothingFound } from './nothing-found.tsx';
import { refusalOf, useFacets, useHistogram, useStreamNames } from './reads.ts';
import { type ExploreQuery, parseQuery, withPart } from './query.ts';
import { QueryBox } from './query-box/query-box.tsx';
import { useOffers } from './query-box/use-offers.ts';
import { RangePicker } from './range/range-picker.tsx';
import { Results } from './results/results.tsx';
import { type ServiceColor, ServiceColors, toServiceColor } from './service-color.ts';
import { ExploreTabs } from './tabs/explore-tabs.tsx';
import { ShareMenu } from './share-menu.tsx';
import { type Filter, termsOf, withFilter, withoutFilter } from './terms.ts';
import { type ExploreState, useExploreQuery } from './use-explore-query.ts';
import { useKept } from './use-kept.ts';
import { type Run, useOverviewRun, useRun } from './use-run.ts';
import { ViewsMenu } from './views/views-menu.tsx';

export function LogsPage() {
  const { query, change } = useExploreQuery();
  const { run, refresh } = useRun(query);
  const actions = actionsOf(change);
  const canCount = useScope('analytics:read');
  const side = useSide();
  const hits = useMemo(() => toHits(query.text), [query.text]);
  const offers = useOffers(run.bounds, useStreamNames());
  const overview = useOverviewRun(run, query);
  const counts = useHistogram(overview, query.groupBy);
  const { data: facets } = useFacets(overview, facetFieldNames, side.place !== 'hidden');
  const colorOf = useServiceColor(
    facets,
    query.groupBy === 'serviceName' ? counts.data : undefined,
  );
  return (
    <div className={styles.page}>
      <a
        className="skip"
        href="#results"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('results')?.focus();
        }}
      >
        Skip to the results
      </a>
      <h1 className="only-read">Logs</h1>
      <div className={styles.bar}>
        {canCount && (
          <Button
            tone="bare"
            label="Facets ( f )"
            isPressed={side.place !== 'hidden'}
            onPress={side.onToggle}
          >
            <Icon name="filter" />
          </Button>
        )}
        <div className={styles.search}>
          <QueryBox
            text={query.text}
            refusal={refusalOf(counts.error)}
            offers={offers}
            onRun={actions.onText}
          />
        </div>
        <RangePicker
          range={query.range}
          bounds={run.bounds}
          onRange={actions.onRange}
          onRefresh={refresh}
        />
        <div className={styles.menus}>
          <ViewsMenu query={query} onOpen={actions.onOpenView} />
          <ShareMenu query={query} bounds={run.bounds} />
          <AlertLink of={ruleOf(query.text)} label="Alert from this search" />
        </div>
      </div>
      <SearchHits value={hits}>
        <ServiceColors value={colorOf}>
          <Body
            query={query}
            run={run}
            overview={overview}
            counts={counts}
            side={side}
            actions={actions}
            onRefresh={refresh}
          />
        </ServiceColors>
      </SearchHits>
    </div>
  );
}

/** A rule reads one stream: that of the query, or one that is chosen later. */
function ruleOf(text: string): { query: string; streamId?: string } {
  const streams = termsOf(text)
    .flatMap(({ filters }) => filters)
    .filter(({ field, isExcluded }) => field === 'streamId' && !isExcluded);
  return { query: text, ...(streams.length === 1 && { streamId: streams[0]!.value }) };
}

/** Colours for the services that are listed, and those in the histogram. */
function useServiceColor(
  facets: readonly Facet[] | undefined,
  histogram: Histogram | undefined,
): ServiceColor {
  const listed = facets?.find(({ field }) => field === 'service')?.values ?? [];
  const charted = histogram?.buckets.flatMap(({ groups = {} }) => Object.keys(groups)) ?? [];
  const names = new Set([...listed.map(({ value }) => value), ...charted]);
  const key = JSON.stringify([...names].toSorted());
  return useMemo(() => toServiceColor(JSON.parse(key) as string[]), [key]);
}

type Actions = ReturnType<typeof actionsOf>;

function actionsOf(change: ExploreState['change']) {
  const onChange = (part: Partial<ExploreQuery>) => change((query) => withPart(query, part));
  const onTerms = (toText: (text: string) => string) =>
    change((query) => withPart(query, { text: toText(query.text) }));
  return {
    onChange,
    onText: (text: string) => onChange({ text }),
    onRange: (range: ExploreQuery['range']) => onChange({ range }),
    onFilter: (filter: Filter) => onTerms((text) => withFilter(text, filter)),
    onRemove: (filter: Filter) => onTerms((text) => withoutFilter(text, filter)),
    onOpenView: (viewQuery: string) => change(() => parseQuery(viewQuery), 'push'),
  };
}

interface BodyProps {
  readonly query: ExploreQuery;
  readonly run: Run;
  readonly overview: Run;
  readonly counts: ReturnType<typeof useHistogram>;
  readonly side: ReturnType<typeof useSide>;
  readonly actions: Actions;
  readonly onRefresh: () => void;
}

function Body({ query, run, overview, counts, side, actions, onRefresh }: BodyProps) {
  const terms = useMemo(() => termsOf(query.text), [query.text]);
  const streamNames = useStreamNames();
  const canCount = useScope('analytics:read');
  const facets = (
    <FacetSidebar
      filters={terms.flatMap(({ filters }) => filters)}
      run={overview}
      streamNames={streamNames}
      onFilter={actions.onFilter}
      onRemove={actions.onRemove}
    />
  );
  useShortcuts([
    {
      key: 't',
      description: 'Start or stop following new logs',
      group: 'Logs',
      run: () => actions.onChange({ isLive: !query.isLive }),
    },
  ]);
  const { data, isPlaceholderData } = counts;
  const isEmpty = data?.total === 0 && !isPlaceholderData;
  const shared = { query, run, onChange: actions.onChange };
  const isNothing = isEmpty && !query.isLive && query.openLogId === undefined;
  return (
    <div className={styles.body} data-has-side={canCount && side.place === 'beside'}>
      {canCount && side.place === 'beside' && (
        <aside className={styles.side} aria-label="Filter by value">
          {facets}
        </aside>
      )}
      {canCount && (
        <Sheet title="Filter by value" isOpen={side.place === 'sheet'} onClose={side.onToggle}>
          <HideKey onPress={side.onToggle} />
          {facets}
        </Sheet>
      )}
      <div className={styles.main}>
        <div className={styles.chips}>
          <FilterChips terms={terms} streamNames={streamNames} onChange={actions.onText} />
        </div>
        {canCount && (
          <HistogramPanel
            run={overview}
            query={query}
            answer={counts}
            streamNames={streamNames}
            onRange={actions.onRange}
            onGroup={(groupBy) => actions.onChange({ groupBy })}
          />
        )}
        <div id="results" tabIndex={-1} className={styles.results}>
          {isNothing ? (
            <NothingFound {...shared} onRefresh={onRefresh} />
          ) : (
            <ExploreTabs
              {...shared}
              streamNames={streamNames}
              logs={
                <Results
                  query={query}
                  run={run}
                  counted={overview.bounds}
                  onChange={actions.onChange}
                  onFilter={actions.onFilter}
                />
              }
              onFilter={actions.onFilter}
            />
          )}
        </div>
      </div>
    </div>
  );
}

/** Closes the sheet with the key that opened it. */
function HideKey({ onPress }: { onPress: () => void }) {
  useShortcuts([{ key: 'f', description: 'Hide the values', group: 'Logs', run: onPress }]);
  return null;
}

/** Facets beside the logs on wide screens, else in a sheet. */
function useSide() {
  /** Too narrow for the sidebar. */
  const isNarrow = useMedia('(max-width: 52rem)');
  const [isWanted, setIsWanted] = useKept('weir.facets.shown', true);
  const [isSheetOpen, setIsSheetOpen] = useState(false);
  const isOpen = isNarrow ? isSheetOpen : isWanted;
  const onToggle = () => (isNarrow ? setIsSheetOpen(!isSheetOpen) : setIsWanted(!isWanted));
  useShortcuts([
    { key: 'f', description: 'Show or hide the values', group: 'Logs', run: onToggle },
  ]);
  const place = !isOpen ? 'hidden' : isNarrow ? 'sheet' : 'beside';
  return { place, onToggle } as const;
}
