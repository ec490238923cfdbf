/** YAML, of which JSON is a part, in an editor with line numbers. Load it lazily. */
import { indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { CodeEditor, type CodeEditorProps } from './code-editor.tsx';

export function YamlEditor(props: Omit<CodeEditorProps, 'extensions'>) {
  return <CodeEditor {...props} extensions={() => extensions} />;
}

const extensions = [
  yaml(),
  lineNumbers(),
  indentUnit.of('  '),
  EditorView.lineWrapping,
  // Escape, then Tab leaves the editor (CodeMirror's own rule).
  keymap.of([indentWithTab]),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--json-key)' },
      { tag: [tags.string, tags.content], color: 'var(--json-string)' },
      { tag: tags.comment, color: 'var(--text-quiet)' },
    ]),
  ),
  EditorView.theme({
    '.cm-scroller': { maxHeight: '32rem' },
    '.cm-content': { minHeight: '8rem' },
    '.cm-gutters': {
      border: 'none',
      background: 'transparent',
      color: 'var(--text-quiet)',
    },
  }),
];
