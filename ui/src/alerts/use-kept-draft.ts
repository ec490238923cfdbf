/** An unsaved text, kept in the tab over reloads and changes of the page. */
import { useState } from 'react';

interface Draft {
  /** What was stored when editing began. */
  readonly base: string;
  readonly text: string;
}

/** @param name of the edited thing */
export function useKeptDraft(name: string, initial: string) {
  const key = `weir.draft ${name}`;
  const [restored] = useState(() => read(key));
  const [isRestored, setIsRestored] = useState(restored !== undefined);
  const [draft, setDraft] = useState(restored ?? { base: initial, text: initial });
  const forget = () => sessionStorage.removeItem(key);
  return {
    draft,
    /** It was begun before the page was opened. */
    isRestored,
    setText(text: string) {
      const next = { ...draft, text };
      setDraft(next);
      if (text === draft.base) forget();
      else sessionStorage.setItem(key, JSON.stringify(next));
    },
    discard() {
      forget();
      setIsRestored(false);
      setDraft({ base: initial, text: initial });
    },
    forget,
  };
}

function read(key: string): Draft | undefined {
  const kept = sessionStorage.getItem(key);
  // Written by this app only.
  return kept === null ? undefined : (JSON.parse(kept) as Draft);
}
