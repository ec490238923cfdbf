/** An unsaved text, kept in the tab over reloads and changes of the page. */
import { useState } from 'react';

interface Draft {
  /** What was stored when editing began. */
  readonly base: string;
  readonly text: string;
}

const prefix = 'weir.draft ';

/** Those of the person who leaves. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  }
}

/** @param name of the edited thing */
export function keptDraft(name: string): Draft | undefined {
  const kept = sessionStorage.getItem(prefix + name);
  // Written by this app only.
  return kept === null ? undefined : (JSON.parse(kept) as Draft);
}

/** @param name of the edited thing */
export function useKeptDraft(name: string, initial: string) {
  const key = prefix + name;
  const [restored] = useState(() => keptDraft(name));
  const [isRestored, setIsRestored] = useState(restored !== undefined);
  const [draft, setDraft] = useState(restored ?? { base: initial, text: initial });
  const forget = () => sessionStorage.removeItem(key);
  const keep = (next: Draft) => {
    try {
      sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // More than the browser keeps: editing goes on without.
    }
  };
  return {
    draft,
    /** The draft is from before this page was opened. */
    isRestored: isRestored && draft.text !== draft.base,
    setText(text: string) {
      const next = { ...draft, text };
      setDraft(next);
      if (text === draft.base) forget();
      else keep(next);
    },
    discard() {
      forget();
      setIsRestored(false);
      setDraft({ base: initial, text: initial });
    },
    forget,
  };
}
