/** One query: its text, the builder below, and why it cannot be read. */
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import type { CodeEditorHandle } from '../../parts/editor/code-editor.tsx';
import type { TextFault } from '../../parts/editor/text-fault.ts';
import type { MetricFamily } from '../browse/metric-families.ts';
import { letterOf } from '../chart/plotted-series.ts';
import type { Bounds, MetricQuery } from '../metric-query.ts';
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

/** An error appears when typing pauses. */
const pauseMs = 700;

export function QueryRow(props: QueryRowProps) {
  const { at, text, refusal, families, offers, bounds, onRun, onRemove } = props;
  const editor = useRef<CodeEditorHandle>(null);
  const [draft, setDraft] = useState({ text, of: text, isChecked: true });
  if (draft.of !== text) setDraft({ text, of: text, isChecked: true });
  useEffect(() => {
    if (draft.isChecked) return;
    const timer = setTimeout(() => setDraft({ ...draft, isChecked: true }), pauseMs);
    return () => clearTimeout(timer);
  }, [draft]);
  const own = draft.isChecked ? syntaxFaultOf(draft.text) : undefined;
  const fault = own ?? (draft.text === text ? refusal : undefined);
  const run = (written: string) => {
    const isReadable = syntaxFaultOf(written) === undefined;
    setDraft({ text: written, of: text, isChecked: true });
    if (isReadable && written !== text) onRun(written);
  };
  useShortcuts([
    {
      key: '/',
      description: 'Query',
      group: 'Metrics',
      run: () => at === 0 && editor.current?.focus(),
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
        <div className={styles.box} data-has-fault={fault !== undefined}>
          <Suspense fallback={<div className={styles.loading}>{text}</div>}>
            <PromqlEditor
              ref={editor}
              label={name}
              className={styles.editor}
              text={draft.text}
              fault={fault}
              offers={offers}
              onText={(written) => {
                if (written !== draft.text) setDraft({ text: written, of: text, isChecked: false });
              }}
              onRun={run}
              onLeave={run}
            />
          </Suspense>
        </div>
        {onRemove && (
          <Button tone="bare" label={`Remove query ${letterOf(at)}`} onPress={onRemove}>
            <Icon name="close" />
          </Button>
        )}
      </div>
      {fault !== undefined && (
        <p className={styles.fault} role="alert">
          {fault.position === undefined ? '' : `At position ${fault.position + 1}: `}
          {fault.message}
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
        fault === undefined && (
          <p className={styles.note}>
            The builder has no form for this query: edit it as PromQL, or clear it to start again.
          </p>
        )
      )}
    </section>
  );
}
