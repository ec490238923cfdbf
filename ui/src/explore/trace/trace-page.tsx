/** One trace: its services as a waterfall, and its logs in order of time. */
import { useMemo, useRef, useState } from 'react';
import { Link, useParams } from 'wouter';
import { useApp } from '../../app/context.ts';
import { usePreferences } from '../../app/preferences.ts';
import { toSharedLink } from '../../app/session.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { Failure } from '../../parts/feedback/answer.tsx';
import { Loading } from '../../parts/feedback/loading.tsx';
import { countOf, formatTime } from '../../parts/text/time-text.ts';
import type { Log } from '../../api/models.ts';
import { LogGrid, type LogGridHandle } from '../grid/log-grid.tsx';
import { useGridKeys } from '../grid/use-grid-keys.ts';
import { useLogSelection } from '../grid/use-log-selection.ts';
import { LogDetail } from '../log/log-detail.tsx';
import { defaultQuery, formatQuery } from '../query.ts';
import { toAbsolute } from '../range/range.ts';
import { ServiceColors, toServiceColor } from '../service-color.ts';
import { withFilter } from '../terms.ts';
import { formatDuration, spanKey, toSpans } from './trace.ts';
import styles from './trace-page.module.css';
import { type TraceLogs, useTrace } from './use-trace.ts';
import { Waterfall } from './waterfall.tsx';

export function TracePage() {
  const { traceId } = useParams<{ traceId: string }>();
  const trace = useTrace(traceId);
  const { data, isFetching, refetch } = trace;
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1 className={styles.title}>
          Trace <code>{traceId}</code>
        </h1>
        <CopyButton text={traceId} what="the trace id" />
        <Button tone="bare" label="Read again" onPress={() => void refetch()}>
          <Icon name="refresh" />
        </Button>
        {data !== undefined && data.logs.length > 0 && (
          <Link className={styles.link} href={`/explore/logs?${searchOf(traceId, data.logs)}`}>
            Search and filter these logs
          </Link>
        )}
      </header>
      <Failure of={trace} />
      {data === undefined && isFetching && <Loading what="Loading the trace" />}
      {data !== undefined && data.logs.length === 0 && (
        <EmptyState title="No log of this trace">
          No stored log has this trace id: its retention has ended, or it belongs to another
          account.
        </EmptyState>
      )}
      {data !== undefined && data.logs.length > 0 && <Trace {...data} />}
    </div>
  );
}

const columns = ['serviceName', 'host'];

function Trace({ logs, isCut }: TraceLogs) {
  const { timeZone } = usePreferences();
  const [chosen, setChosen] = useState<string>();
  const spans = useMemo(() => toSpans(logs), [logs]);
  const shown = useMemo(
    () => (chosen === undefined ? logs : logs.filter((log) => spanKey(log) === chosen)),
    [logs, chosen],
  );
  const selection = useLogSelection(shown);
  const grid = useRef<LogGridHandle>(null);
  useGridKeys('Trace', selection, { focus: () => grid.current?.focus() });
  const { accountId } = useApp().session;
  const actions = useMemo(
    () => ({
      linkTo({ logId }: Log) {
        const search = formatQuery({ ...defaultQuery, openLogId: logId });
        return toSharedLink('/explore/logs', search, accountId);
      },
    }),
    [accountId],
  );
  const lengthMs = Math.max(...spans.map(({ untilMs }) => untilMs));
  const services = useMemo(() => new Set(spans.map(({ service }) => service)), [spans]);
  const colorOf = useMemo(() => toServiceColor([...services]), [services]);
  return (
    <ServiceColors value={colorOf}>
      <p className={styles.summary} role="status">
        {formatTime(logs[0]!.timestamp, timeZone)}: {formatDuration(lengthMs)},{' '}
        {countOf(services.size, 'service')}, {countOf(logs.length, 'log')}
        {isCut && ', the newest; older ones are not shown'}
      </p>
      <Waterfall spans={spans} chosen={chosen} onChoose={setChosen} />
      <div className={styles.list}>
        <LogGrid
          ref={grid}
          label="Logs of the trace, oldest first"
          logs={shown}
          columns={columns}
          zone={timeZone}
          isWrapped={false}
          selection={selection}
          renderDetail={(log) => <LogDetail log={log} zone={timeZone} actions={actions} />}
        />
      </div>
    </ServiceColors>
  );
}

const aroundMs = 60_000;

/** The logs page with this trace as its filter. @param logs oldest first */
function searchOf(traceId: string, logs: readonly Log[]): string {
  const [from, until] = [logs[0]!, logs.at(-1)!].map(({ timestamp }) => Date.parse(timestamp));
  return formatQuery({
    ...defaultQuery,
    range: toAbsolute(from! - aroundMs, until! + aroundMs),
    text: withFilter('', { field: 'traceId', value: traceId, isExcluded: false }),
  });
}
