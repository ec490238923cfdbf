/** The editor of a query: Enter runs it, Escape leaves it, Tab completes. Load it lazily. */
import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
} from '@codemirror/autocomplete';
import { insertNewline } from '@codemirror/commands';
import type { Extension } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { useEffectEvent, useMemo } from 'react';
import { CodeEditor } from './code-editor.tsx';
import type { EditedQuery } from './use-query-draft.ts';

export interface QueryEditorProps extends EditedQuery {
  /** Accessible name. */
  readonly label: string;
  /** Shown while there is no text. */
  readonly hint: string;
  /** Language, completion and key bindings; called once. */
  readonly extensions: () => Extension;
}

export function QueryEditor({ hint, fault, onRun, extensions, ...rest }: QueryEditorProps) {
  const run = useEffectEvent(onRun);
  const faults = useMemo(() => (fault === undefined ? [] : [fault]), [fault]);
  return (
    <CodeEditor
      {...rest}
      faults={faults}
      extensions={() => [
        keysOf(run),
        extensions(),
        completion,
        placeholder(hint),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ enterkeyhint: 'search' }),
      ]}
    />
  );
}

const completion = autocompletion({
  // Enter runs the query unless an option was chosen.
  selectOnOpen: false,
  interactionDelay: 0,
  activateOnCompletion: ({ type }) => type === 'key',
  icons: false,
  maxRenderedOptions: 50,
});

function keysOf(onRun: (text: string) => void): Extension {
  const commit = (view: EditorView) => {
    closeCompletion(view);
    onRun(view.state.doc.toString());
    return true;
  };
  const leave = (view: EditorView) => {
    view.contentDOM.blur();
    return true;
  };
  return keymap.of([
    { key: 'Enter', run: commit, shift: insertNewline },
    { key: 'Mod-Enter', run: commit },
    { key: 'Escape', run: leave },
    { key: 'Tab', run: acceptFirst },
  ]);
}

/** Tab leaves the editor, unless something is offered. */
function acceptFirst(view: EditorView): boolean {
  if (completionStatus(view.state) !== 'active') return false;
  return acceptCompletion(view) || (moveCompletionSelection(true)(view) && acceptCompletion(view));
}
