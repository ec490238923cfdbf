/** The look of editors of one line or more, in the colours of the page. */
import { EditorView } from '@codemirror/view';

export const editorTheme = EditorView.theme({
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { maxHeight: '8rem', overflow: 'auto', font: '0.8125rem/1.5 var(--font-mono)' },
  '.cm-content': { padding: '0.28rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 2px' },
  '.cm-placeholder': {
    maxWidth: '100%',
    overflow: 'hidden',
    color: 'var(--text-quiet)',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--danger)' },
  '.cm-tooltip': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    background: 'var(--surface-raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
    zIndex: '5',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    font: '0.8125rem/1.6 var(--font-mono)',
    maxHeight: '16rem',
    maxWidth: 'min(36rem, 92vw)',
    minWidth: '14rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', padding: '1px 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--surface-selected)',
    color: 'var(--text)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > completion-section': {
    borderBottom: '1px solid var(--line)',
    padding: '2px 0.5rem',
    color: 'var(--text-quiet)',
    font: '600 0.75rem/1.6 var(--font)',
    opacity: '1',
  },
  '.cm-completionLabel': { overflow: 'hidden', textOverflow: 'ellipsis' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': {
    marginInlineStart: 'auto',
    paddingInlineStart: '1rem',
    color: 'var(--text-quiet)',
    fontStyle: 'normal',
    fontVariantNumeric: 'tabular-nums',
  },
  '.cm-selectionBackground': { background: 'var(--mark) !important' },
});
