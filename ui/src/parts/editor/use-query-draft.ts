/** A query while it is written: Enter or leaving the editor runs it, unless it cannot be read. */
import { type RefObject, useRef, useState } from 'react';
import type { CodeEditorHandle } from './code-editor.tsx';
import type { TextFault } from './text-fault.ts';
import { usePaused } from './use-paused.ts';

export interface QueryToWrite {
  /** The query that runs. */
  readonly text: string;
  /** Why the service refused it. */
  readonly refusal: TextFault | undefined;
  /** undefined for a query that can be read. Pure. */
  readonly faultOf: (text: string) => TextFault | undefined;
  readonly onRun: (text: string) => void;
}

/** What the editor of a query is given. */
export interface EditedQuery {
  readonly ref: RefObject<CodeEditorHandle | null>;
  readonly text: string;
  /** Appears when typing pauses. */
  readonly fault: TextFault | undefined;
  readonly onText: (text: string) => void;
  readonly onRun: (text: string) => void;
  readonly onLeave: (text: string) => void;
}

export function useQueryDraft({ text, refusal, faultOf, onRun }: QueryToWrite): EditedQuery {
  const ref = useRef<CodeEditorHandle>(null);
  const [draft, setDraft] = useState({ text, of: text, isRun: true });
  if (draft.of !== text) setDraft({ text, of: text, isRun: true });
  const isPaused = usePaused(draft.text) === draft.text;
  const own = draft.isRun || isPaused ? faultOf(draft.text) : undefined;
  const run = (written: string) => {
    const trimmed = written.trim();
    const isReadable = faultOf(trimmed) === undefined;
    setDraft({ text: isReadable ? trimmed : written, of: text, isRun: true });
    if (isReadable) onRun(trimmed);
  };
  return {
    ref,
    text: draft.text,
    fault: own ?? (draft.text === text ? refusal : undefined),
    onText(written) {
      if (written !== draft.text) setDraft({ text: written, of: text, isRun: false });
    },
    onRun: run,
    onLeave(written) {
      if (written.trim() !== text.trim()) run(written);
    },
  };
}
