/** Shown when no logs match: the reason and what to do; before the first log, how to send. */
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Log } from '../api/models.ts';
import { useScope } from '../app/context.ts';
import { usePreferences } from '../app/preferences.ts';
import { Button } from '../parts/controls/button.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { formatTime } from '../parts/text/time-text.ts';
import { cutText } from '../parts/text/visible-text.ts';
import styles from './nothing-found.module.css';
import { hintsOf } from './query-box/query-hints.ts';
import { type ExploreQuery, parseSpan, type Range } from './query.ts';
import { formatRange, spanWords, toAbsolute } from './range/range.ts';
import { useNewestLog } from './reads.ts';
import type { Run } from './use-run.ts';
import { serviceNowMs } from '../api/service-clock.ts';

export interface NothingFoundProps {
  readonly query: ExploreQuery;
  readonly run: Run;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onRefresh: () => void;
}

const pollMs = 2000;
const aroundMs = 15 * 60_000;
const maxHints = 3;
const maxHintLength = 80;

export function NothingFound({ query, run, onChange, onRefresh }: NothingFoundProps) {
  const hasConditions = Object.keys(run.filters).length > 0;
  const first = useNewestLog({}, pollMs);
  // May scan all data, so nothing else waits for it.
  const match = useNewestLog(run.filters, undefined);
  useFirstArrival(first.data, onRefresh);
  useArrival(match.data, query.range, run, onRefresh);
  if (first.isPending) return null;
  if (first.data === null) return <FirstVisit />;
  const newest = match.data ?? undefined;
  return (
    <section className={styles.nothing} aria-label="Nothing found">
      <h2>No logs match</h2>
      <Reason query={query} newest={match.data} />
      {match.data === null && <Hints text={query.text} />}
      <div className={styles.actions}>
        {newest && (
          <Button
            tone="primary"
            onPress={() => onChange({ range: around(Date.parse(newest.timestamp)) })}
          >
            Show the newest
          </Button>
        )}
        {hasConditions && <Button onPress={() => onChange({ text: '' })}>Clear the query</Button>}
        {widerThan(run, match.data !== null).map((span) => (
          <Button key={span} onPress={() => onChange({ range: { kind: 'relative', span } })}>
            Last {spanWords(span)}
          </Button>
        ))}
        {!query.isLive && <Button onPress={() => onChange({ isLive: true })}>Follow live</Button>}
      </div>
    </section>
  );
}

/** Larger ranges that would have results. */
function widerThan({ bounds }: Run, isAnywhere: boolean): string[] {
  const lengthMs = Date.parse(bounds.untilTime) - Date.parse(bounds.sinceTime);
  return isAnywhere ? ['24h', '7d', '30d'].filter((span) => parseSpan(span)! > lengthMs) : [];
}

/** @param newest null = none at any time; undefined = loading */
function Reason({ query, newest }: { query: ExploreQuery; newest: Log | null | undefined }) {
  const { timeZone } = usePreferences();
  return (
    <p>
      Searched {formatRange(query.range, timeZone).replace(/^Last/, 'the last')}.{' '}
      {newest === null && 'No log matches in any time range.'}
      {newest &&
        `The newest matching log is from ${formatTime(newest.timestamp, timeZone).slice(0, 19)}.`}
    </p>
  );
}

/** Syntax of other languages, which is searched for as text here. */
function Hints({ text }: { text: string }) {
  const hints = hintsOf(text).slice(0, maxHints);
  if (hints.length === 0) return null;
  return (
    <ul className={styles.hints}>
      {hints.map(({ written, meant }) => (
        <li key={written}>
          <code>
            <LogText text={cutText(written, maxHintLength)} />
          </code>{' '}
          is looked for as it is. Did you mean{' '}
          <code>
            <LogText text={cutText(meant, maxHintLength)} />
          </code>
          ?
        </li>
      ))}
    </ul>
  );
}

function FirstVisit() {
  const canManage = useScope('admin');
  return (
    <section className={styles.nothing} aria-label="Waiting for the first log">
      <span className={styles.pulse} aria-hidden="true" />
      <h2>Waiting for the first log</h2>
      <p role="status">
        This account has not received any logs yet. The first one appears here when it arrives.
      </p>
      {canManage ? (
        <Link href="/receivers" className={styles.link}>
          Send data: addresses, tokens and configuration to paste
        </Link>
      ) : (
        <p>An administrator of this account can find addresses and tokens under Receivers.</p>
      )}
    </section>
  );
}

function useFirstArrival(first: Log | null | undefined, onArrival: () => void) {
  const toast = useToast();
  const wasEmpty = useRef(false);
  useEffect(() => {
    if (first === null) wasEmpty.current = true;
    if (!first || !wasEmpty.current) return;
    wasEmpty.current = false;
    toast('The first log has arrived');
    onArrival();
  }, [first, onArrival, toast]);
}

/** Refreshes when a log of the range arrived after this run, which found none. */
function useArrival(newest: Log | null | undefined, range: Range, run: Run, onArrival: () => void) {
  const newestMs = newest ? Date.parse(newest.timestamp) : undefined;
  useEffect(() => {
    // Only when the refreshed range would include it.
    if (newestMs === undefined || range.kind === 'absolute' || newestMs >= serviceNowMs()) return;
    if (newestMs >= Date.parse(run.bounds.sinceTime)) onArrival();
  }, [newestMs, range, run, onArrival]);
}

function around(ms: number): Range {
  return toAbsolute(ms - aroundMs, ms + aroundMs);
}
