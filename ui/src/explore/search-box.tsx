/** Search input. Applies on Enter, or when typing pauses. */
import { useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Popover } from '../parts/controls/popover.tsx';
import styles from './search-box.module.css';

export interface SearchBoxProps {
  readonly search: string;
  /** `history` is `replace` while the same search is edited. */
  readonly onSearch: (search: string, history: 'push' | 'replace') => void;
}

const pauseMs = 500;
/** Maximum length of the API. */
const maxLength = 1000;

export function SearchBox({ search, onSearch }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const { text, write, run, leave } = useDraft(search, onSearch);
  useShortcuts([
    {
      key: '/',
      description: 'Search',
      group: 'Logs',
      run: () => {
        input.current?.focus();
        input.current?.select();
      },
    },
  ]);
  return (
    <form
      className={styles.box}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        run(text);
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        className={styles.input}
        type="text"
        aria-label="Search in messages"
        placeholder="Search messages ( / )"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        enterKeyHint="search"
        maxLength={maxLength}
        value={text}
        onChange={({ target }) => write(target.value)}
        onBlur={leave}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      {text !== '' && (
        <Button
          tone="bare"
          label="Clear the search"
          onPress={() => {
            run('');
            input.current?.focus();
          }}
        >
          <Icon name="close" />
        </Button>
      )}
      <SyntaxHelp />
    </form>
  );
}

interface Draft {
  readonly text: string;
  /** The applied search when editing began. */
  readonly of: string;
  /** Applies after a pause. */
  readonly isPending: boolean;
}

/** The text; an external change (back, a view) replaces it. */
function useDraft(search: string, onSearch: SearchBoxProps['onSearch']) {
  const [draft, setDraft] = useState<Draft>({ text: search, of: search, isPending: false });
  const isWriting = useRef(false);
  const latest = useRef(onSearch);
  useEffect(() => {
    latest.current = onSearch;
  });
  if (draft.of !== search) {
    // Keeps what was typed after the search was applied.
    const isContinued = draft.isPending && search !== '' && draft.text.startsWith(search);
    setDraft(
      isContinued ? { ...draft, of: search } : { text: search, of: search, isPending: false },
    );
  }
  useEffect(() => {
    if (!draft.isPending) return;
    const timer = setTimeout(() => {
      setDraft({ ...draft, isPending: false });
      latest.current(draft.text, isWriting.current ? 'replace' : 'push');
      isWriting.current = true;
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [draft]);

  return {
    text: draft.text,
    write: (text: string) => setDraft({ text, of: search, isPending: true }),
    run(text: string) {
      setDraft({ text, of: search, isPending: false });
      onSearch(text, 'push');
      isWriting.current = false;
    },
    /** The next edit is a new search. */
    leave() {
      isWriting.current = false;
    },
  };
}

function SyntaxHelp() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover
      label="How to search"
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
        Any part of a word counts, in any case. Only messages are searched; for fields and labels
        press a value in the list or in the sidebar.
      </p>
    </Popover>
  );
}

const syntax = [
  ['timeout db', 'both, anywhere in the message'],
  ['"connection reset"', 'this exact phrase'],
  ['-healthz', 'without this'],
  ['-"GET /ping"', 'without this phrase'],
] as const;
