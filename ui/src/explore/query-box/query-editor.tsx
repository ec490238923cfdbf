/**
 * The editor of queries: CodeMirror in a shadow root, where its styles need no exception from the
 * Content-Security-Policy.
 */
import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, insertNewline } from '@codemirror/commands';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react';
import type { Fault } from '../terms.ts';
import { complete, type Offers } from './completions.ts';
import { recentQueries } from './query-history.ts';
import { queryLanguage, queryLook } from './query-syntax.ts';

export interface QueryEditorHandle {
  /** Focuses the editor and selects all. */
  readonly focus: () => void;
}

export interface QueryEditorProps {
  readonly text: string;
  /** Shown in place. */
  readonly fault: Fault | undefined;
  readonly offers: Offers;
  readonly onText: (text: string) => void;
  readonly onRun: (text: string) => void;
  readonly onLeave: (text: string) => void;
  readonly className: string | undefined;
  readonly ref?: Ref<QueryEditorHandle>;
}

export function QueryEditor(props: QueryEditorProps) {
  const { text, fault } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  useLayoutEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const view = new EditorView({ root, parent: root, state: createState(latest) });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    const view = editor.current!;
    if (view.state.doc.toString() !== text) replaceText(view, text);
  }, [text]);
  useEffect(() => {
    const { state } = editor.current!;
    const from = Math.min(fault?.position ?? 0, state.doc.length);
    const to = from + (/^\S*/.exec(state.sliceDoc(from))?.[0].length ?? 0);
    const shown = fault ? [{ from, to, severity: 'error', message: fault.message } as const] : [];
    editor.current!.dispatch(setDiagnostics(state, shown));
  }, [fault, text]);
  useImperativeHandle(props.ref, () => ({
    focus() {
      editor.current?.focus();
      editor.current?.dispatch({ selection: { anchor: 0, head: editor.current.state.doc.length } });
    },
  }));
  return <div ref={host} className={props.className} />;
}

function createState(latest: { readonly current: QueryEditorProps }): EditorState {
  const commit = (view: EditorView) => {
    closeCompletion(view);
    latest.current.onRun(view.state.doc.toString());
    return true;
  };
  const leave = (view: EditorView) => {
    view.contentDOM.blur();
    return true;
  };
  return EditorState.create({
    doc: latest.current.text,
    extensions: [
      queryLanguage,
      queryLook,
      history(),
      placeholder('service:checkout severity>=error timeout  ( / )'),
      autocompletion({
        override: [(context) => complete(context, latest.current.offers)],
        // Enter runs the query unless an option was chosen.
        selectOnOpen: false,
        interactionDelay: 0,
        activateOnCompletion: ({ type }) => type === 'key',
        icons: false,
        maxRenderedOptions: 50,
      }),
      EditorView.contentAttributes.of({
        'aria-label': 'Query',
        'aria-keyshortcuts': '/',
        autocapitalize: 'off',
        enterkeyhint: 'search',
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) latest.current.onText(state.doc.toString());
      }),
      EditorView.domEventHandlers({
        blur: (_, view) => latest.current.onLeave(view.state.doc.toString()),
      }),
      Prec.high(
        keymap.of([
          { key: 'Enter', run: commit, shift: insertNewline },
          { key: 'Mod-Enter', run: commit },
          { key: 'Escape', run: leave },
          { key: 'Tab', run: acceptFirst },
          { key: 'ArrowUp', run: (view) => recall(view, 1) },
          { key: 'ArrowDown', run: (view) => recall(view, -1) || openOnEmpty(view) },
        ]),
      ),
      keymap.of([...historyKeymap, ...defaultKeymap]),
    ],
  });
}

/** Tab leaves the box, unless something is offered. */
function acceptFirst(view: EditorView): boolean {
  if (completionStatus(view.state) !== 'active') return false;
  return acceptCompletion(view) || (moveCompletionSelection(true)(view) && acceptCompletion(view));
}

/** Older and newer queries, from an empty box or from one of them. */
function recall(view: EditorView, step: 1 | -1): boolean {
  const recent = recentQueries();
  const at = recent.indexOf(view.state.doc.toString());
  if (view.state.doc.length > 0 && at < 0) return false;
  const next = at + step;
  if (next < -1 || next >= recent.length) return false;
  replaceText(view, recent[next] ?? '');
  return true;
}

function openOnEmpty(view: EditorView): boolean {
  return view.state.doc.length === 0 && startCompletion(view);
}

function replaceText(view: EditorView, text: string): void {
  const changes = { from: 0, to: view.state.doc.length, insert: text };
  view.dispatch({ changes, selection: { anchor: text.length } });
}
