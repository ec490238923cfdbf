/** The query: Enter or leaving the box runs it, errors are shown in place. */
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Popover } from '../../parts/controls/popover.tsx';
import { type Fault, faultOf } from '../terms.ts';
import type { Offers } from './completions.ts';
import styles from './query-box.module.css';
import type { QueryEditorHandle } from './query-editor.tsx';
import { keepQuery } from './query-history.ts';

const QueryEditor = lazy(() =>
  import('./query-editor.tsx').then((module) => ({ default: module.QueryEditor })),
);

export interface QueryBoxProps {
  /** The query that runs. */
  readonly text: string;
  /** Why the service refused it. */
  readonly refusal: Fault | undefined;
  readonly offers: Offers;
  readonly onRun: (text: string) => void;
}

/** An error appears when typing pauses. */
const pauseMs = 700;

export function QueryBox({ text, refusal, offers, onRun }: QueryBoxProps) {
  const editor = useRef<QueryEditorHandle>(null);
  const [draft, setDraft] = useState({ text, of: text, isChecked: true });
  if (draft.of !== text) setDraft({ text, of: text, isChecked: true });
  useEffect(() => {
    if (draft.isChecked) return;
    const timer = setTimeout(() => setDraft({ ...draft, isChecked: true }), pauseMs);
    return () => clearTimeout(timer);
  }, [draft]);
  const own = draft.isChecked ? faultOf(draft.text) : undefined;
  const fault = own ?? (draft.text === text ? refusal : undefined);
  const run = (written: string) => {
    const trimmed = written.trim();
    const isReadable = faultOf(trimmed) === undefined;
    setDraft({ text: isReadable ? trimmed : written, of: text, isChecked: true });
    if (!isReadable) return;
    keepQuery(trimmed);
    onRun(trimmed);
  };
  useShortcuts([
    {
      key: '/',
      description: 'Query',
      group: 'Logs',
      run: () => editor.current?.focus(),
    },
  ]);
  return (
    <div className={styles.box} role="search" data-has-fault={fault !== undefined}>
      <Icon name="search" />
      <Suspense fallback={<div className={styles.loading}>{text}</div>}>
        <QueryEditor
          ref={editor}
          className={styles.editor}
          text={draft.text}
          fault={fault}
          offers={offers}
          onText={(written) => {
            if (written !== draft.text) setDraft({ text: written, of: text, isChecked: false });
          }}
          onRun={run}
          onLeave={(written) => {
            if (written.trim() !== text) run(written);
          }}
        />
      </Suspense>
      {draft.text !== '' && (
        <Button
          tone="bare"
          label="Clear the query"
          onPress={() => {
            run('');
            editor.current?.focus();
          }}
        >
          <Icon name="close" />
        </Button>
      )}
      <SyntaxHelp />
      {fault !== undefined && (
        <p className={styles.fault} role="alert">
          At position {fault.position + 1}: {fault.message}
        </p>
      )}
    </div>
  );
}

function SyntaxHelp() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover
      label="How to write queries"
      tone="bare"
      align="end"
      isOpen={isOpen}
      onOpenChange={setIsOpen}
      trigger={<Icon name="help" />}
    >
      <dl className={styles.syntax}>
        {syntax.map(([written, meaning]) => (
          <div key={written}>
            <dt>
              <code>{written}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.note}>
        Terms are joined by AND; OR, NOT and parentheses work too. Tab takes the first suggestion, ↑
        brings back earlier queries, Ctrl-Space suggests.
      </p>
    </Popover>
  );
}

const syntax = [
  ['timeout "connection reset"', 'both, anywhere in the message, in any case'],
  ['-healthz', 'without this'],
  ['service:checkout', 'exactly this value of a field or label'],
  ['host:(web-1 OR web-2)', 'any of these values'],
  ['path:/api/*', '* is any text'],
  ['severity>=warn', 'this severe or more'],
  ['status:>=500', 'a greater number; also < and <='],
  ['duration:[0.5 TO 2]', 'within a range'],
  ['user:*', 'logs that have a value'],
  ['/time(out|d)/', 'a regular expression'],
] as const;
