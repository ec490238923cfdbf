/** One query: its text, the builder below, and why it cannot be read. */
import { lazy } from 'react';
import { useShortcuts } from '../../parts/controls/shortcuts.ts';
import { AlertLink } from '../../links/alert-link.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { QueryFrame } from '../../parts/editor/query-frame.tsx';
import { faultText, type TextFault } from '../../parts/editor/text-fault.ts';
import { useQueryDraft } from '../../parts/editor/use-query-draft.ts';
import type { MetricFamily } from '../browse/metric-families.ts';
import { letterOf } from '../chart/plotted-series.ts';
import type { Bounds, MetricQuery } from '../metric-query.ts';
import { alertExprOf } from './alert-expr.ts';
import { BuilderForm } from './builder-form.tsx';
import { parseBuilt, printBuilt } from './built-query.ts';
import type { PromqlOffers } from './promql-offers.ts';
import { syntaxFaultOf } from './query-fault.ts';
import styles from './query-row.module.css';

const PromqlEditor = lazy(() =>
  import('./promql-editor.tsx').then((module) => ({ default: module.PromqlEditor })),
);

export interface QueryRowProps {
  readonly at: number;
  /** The query that runs. */
  readonly text: string;
  /** Why the service refused it. */
  readonly refusal: TextFault | undefined;
  readonly families: readonly MetricFamily[];
  readonly offers: PromqlOffers;
  readonly bounds: Bounds;
  readonly onRun: (text: string, display?: MetricQuery['display']) => void;
  /** Absent for the only query. */
  readonly onRemove?: () => void;
}

export function QueryRow(props: QueryRowProps) {
  const { at, text, refusal, families, offers, bounds, onRun, onRemove } = props;
  const query = useQueryDraft({ text, refusal, faultOf: syntaxFaultOf, onRun });
  useShortcuts([
    {
      key: '/',
      description: 'Query',
      group: 'Metrics',
      run: () => at === 0 && query.ref.current?.focus(),
    },
  ]);
  const name = `Query ${letterOf(at)}`;
  const built = parseBuilt(text);
  const isBlank = text.trim() === '';
  return (
    <section className={styles.row} aria-label={name}>
      <div className={styles.line}>
        <span className={styles.letter} aria-hidden="true">
          {letterOf(at)}
        </span>
        <QueryFrame query={query}>
          <PromqlEditor {...query} label={name} offers={offers} />
        </QueryFrame>
        {!isBlank && syntaxFaultOf(text) === undefined && (
          <AlertLink of={{ expr: alertExprOf(text) }} label={`Alert from query ${letterOf(at)}`} />
        )}
        {onRemove && (
          <Button tone="bare" label={`Remove query ${letterOf(at)}`} onPress={onRemove}>
            <Icon name="close" />
          </Button>
        )}
      </div>
      {query.fault !== undefined && (
        <p className={styles.fault} role="alert">
          {faultText(query.fault)}
        </p>
      )}
      {built !== undefined || isBlank ? (
        <BuilderForm
          built={built}
          families={families}
          bounds={bounds}
          onChange={(next, display) => onRun(printBuilt(next), display)}
        />
      ) : (
        query.fault === undefined && (
          <p className={styles.note}>
            The builder has no form for this query: edit it as PromQL, or clear it to start again.
          </p>
        )
      )}
    </section>
  );
}
