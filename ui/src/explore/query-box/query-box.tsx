/** The query: Enter or leaving the box runs it, errors are shown in place. */
import { lazy, useState } from 'react';
import { useShortcuts } from '../../parts/controls/shortcuts.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Popover } from '../../parts/controls/popover.tsx';
import { QueryFrame } from '../../parts/editor/query-frame.tsx';
import { faultText, type TextFault } from '../../parts/editor/text-fault.ts';
import { useQueryDraft } from '../../parts/editor/use-query-draft.ts';
import { faultOf } from '../terms.ts';
import type { Offers } from './completions.ts';
import styles from './query-box.module.css';
import { keepQuery } from './query-history.ts';

const LogQueryEditor = lazy(() =>
  import('./log-query-editor.tsx').then((module) => ({ default: module.LogQueryEditor })),
);

export interface QueryBoxProps {
  /** The query that runs. */
  readonly text: string;
  /** Why the service refused it. */
  readonly refusal: TextFault | undefined;
  readonly offers: Offers;
  readonly onRun: (text: string) => void;
}

export function QueryBox({ text, refusal, offers, onRun }: QueryBoxProps) {
  const query = useQueryDraft({
    text,
    refusal,
    faultOf,
    onRun(written) {
      keepQuery(written);
      onRun(written);
    },
  });
  const focus = () => query.ref.current?.focus();
  const clear = () => {
    query.onRun('');
    focus();
  };
  useShortcuts([{ key: '/', description: 'Query', group: 'Logs', run: focus }]);
  return (
    <div className={styles.box} role="search">
      <QueryFrame
        query={query}
        start={<Icon name="search" />}
        end={
          <>
            {query.text !== '' && (
              <Button tone="bare" label="Clear the query" onPress={clear}>
                <Icon name="close" />
              </Button>
            )}
            <SyntaxHelp />
          </>
        }
      >
        <LogQueryEditor {...query} offers={offers} />
      </QueryFrame>
      {query.fault !== undefined && (
        <p className={styles.fault} role="alert">
          {faultText(query.fault)}
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
