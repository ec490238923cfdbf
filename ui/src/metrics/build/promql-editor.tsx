/** PromQL in an editor that completes names, labels, values and functions. Load it lazily. */
import { acceptCompletion, autocompletion, completionStatus } from '@codemirror/autocomplete';
import { insertNewline } from '@codemirror/commands';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { PromQLExtension } from '@prometheus-io/codemirror-promql';
import { type Ref, useMemo, useRef } from 'react';
import { CodeEditor, type CodeEditorHandle } from '../../parts/editor/code-editor.tsx';
import type { TextFault } from '../../parts/editor/text-fault.ts';
import type { PromqlOffers } from './promql-offers.ts';

export interface PromqlEditorProps {
  /** Accessible name. */
  readonly label: string;
  readonly text: string;
  readonly fault: TextFault | undefined;
  readonly offers: PromqlOffers;
  readonly onText: (text: string) => void;
  readonly onRun: (text: string) => void;
  readonly onLeave: (text: string) => void;
  readonly className: string | undefined;
  readonly ref?: Ref<CodeEditorHandle>;
}

export function PromqlEditor({ offers, onRun, fault, ...rest }: PromqlEditorProps) {
  const run = useRef(onRun);
  run.current = onRun;
  const faults = useMemo(() => (fault === undefined ? [] : [fault]), [fault]);
  const extensions = useMemo(() => {
    // Faults come from the parser of the service, which reads newer syntax than this linter.
    const language = new PromQLExtension().activateLinter(false);
    language.setComplete({ remote: offers, maxMetricsMetadata: 2000 });
    const commit = (view: EditorView) => {
      run.current(view.state.doc.toString());
      return true;
    };
    return [
      language.asExtension(),
      syntaxHighlighting(colors),
      EditorView.lineWrapping,
      autocompletion({
        // Enter runs the query unless an option was chosen.
        selectOnOpen: false,
        interactionDelay: 0,
        icons: false,
        maxRenderedOptions: 50,
      }),
      placeholder('rate(http_requests_total{job="api"}[5m])'),
      Prec.high(
        keymap.of([
          { key: 'Enter', run: commit, shift: insertNewline },
          { key: 'Mod-Enter', run: commit },
          { key: 'Escape', run: leave },
          { key: 'Tab', run: accept },
        ]),
      ),
    ];
  }, [offers]);
  return <CodeEditor {...rest} faults={faults} extensions={extensions} />;
}

function leave(view: EditorView): boolean {
  view.contentDOM.blur();
  return true;
}

/** Tab leaves the editor, unless something is offered. */
function accept(view: EditorView): boolean {
  return completionStatus(view.state) === 'active' && acceptCompletion(view);
}

const colors = HighlightStyle.define([
  { tag: [tags.labelName, tags.variableName], color: 'var(--json-key)' },
  { tag: [tags.string, tags.number], color: 'var(--json-string)' },
  { tag: [tags.function(tags.variableName), tags.keyword], color: 'var(--accent)' },
  { tag: [tags.operator, tags.paren, tags.brace], color: 'var(--text-quiet)' },
  { tag: [tags.modifier, tags.operatorKeyword], color: 'var(--text)', fontWeight: '600' },
]);
