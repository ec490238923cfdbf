/**
 * A text in CodeMirror, with faults underlined in place. It is in a shadow root, where its styles
 * need no exception from the Content-Security-Policy. Load it lazily.
 */
import { history, historyKeymap, defaultKeymap } from '@codemirror/commands';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import {
  type Ref,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import { editorTheme } from './editor-theme.ts';
import type { TextFault } from './text-fault.ts';

export interface CodeEditorHandle {
  /** Focuses the editor and selects all. */
  readonly focus: () => void;
}

export interface CodeEditorProps {
  /** Accessible name. */
  readonly label: string;
  readonly text: string;
  readonly faults: readonly TextFault[];
  readonly onText: (text: string) => void;
  /** The text when the focus leaves. */
  readonly onLeave?: (text: string) => void;
  /** Language, completion and keys; called once. */
  readonly extensions: () => Extension;
  readonly className?: string | undefined;
  readonly ref?: Ref<CodeEditorHandle>;
}

export function CodeEditor(props: CodeEditorProps) {
  const { text, faults } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const onText = useEffectEvent(props.onText);
  const onLeave = useEffectEvent((left: string) => props.onLeave?.(left));
  useLayoutEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: createState({ ...props, onText, onLeave }),
    });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    const view = editor.current!;
    const shown = view.state.doc.toString();
    if (shown !== text) replaceText(view, text);
  }, [text]);
  useEffect(() => {
    const { state } = editor.current!;
    const marks = faults.flatMap(({ position, message }) => {
      if (position === undefined) return [];
      const from = Math.min(position, state.doc.length);
      const to = from + (/^\S*/.exec(state.sliceDoc(from))?.[0].length ?? 0);
      return [{ from, to, severity: 'error' as const, message }];
    });
    editor.current!.dispatch(setDiagnostics(state, marks));
  }, [faults, text]);
  useImperativeHandle(props.ref, () => ({
    focus() {
      const view = editor.current!;
      view.focus();
      view.dispatch({ selection: { anchor: 0, head: view.state.doc.length } });
    },
  }));
  return <div ref={host} className={props.className} />;
}

function createState(props: CodeEditorProps): EditorState {
  const { text, extensions, label, onText, onLeave } = props;
  return EditorState.create({
    doc: text,
    extensions: [
      // Before the theme, which theirs may change.
      extensions(),
      editorTheme,
      history(),
      EditorView.contentAttributes.of({
        'aria-label': label,
        autocapitalize: 'off',
        tabindex: '0',
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onText(state.doc.toString());
      }),
      EditorView.domEventHandlers({
        blur: (_, view) => onLeave?.(view.state.doc.toString()),
      }),
      keymap.of([...historyKeymap, ...defaultKeymap]),
    ],
  });
}

/** The cursor follows to the end. */
export function replaceText(view: EditorView, text: string): void {
  const changes = { from: 0, to: view.state.doc.length, insert: text };
  view.dispatch({ changes, selection: { anchor: text.length } });
}
