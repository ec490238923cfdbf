/** The query language of logs in an editor with completion and earlier queries. Load it lazily. */
import { type CompletionContext, startCompletion } from '@codemirror/autocomplete';
import { EditorView, keymap } from '@codemirror/view';
import { useEffectEvent } from 'react';
import { replaceText } from '../../parts/editor/code-editor.tsx';
import { QueryEditor } from '../../parts/editor/query-editor.tsx';
import type { EditedQuery } from '../../parts/editor/use-query-draft.ts';
import { complete, type Offers } from './completions.ts';
import { recentQueries } from './query-history.ts';
import { queryColors, queryLanguage } from './query-syntax.ts';

export function LogQueryEditor({ offers, ...query }: EditedQuery & { readonly offers: Offers }) {
  const autocomplete = useEffectEvent((context: CompletionContext) => complete(context, offers));
  return (
    <QueryEditor
      {...query}
      label="Query"
      hint="service:checkout severity>=error timeout  ( / )"
      extensions={() => [
        queryLanguage,
        queryLanguage.data.of({ autocomplete }),
        queryColors,
        EditorView.contentAttributes.of({ 'aria-keyshortcuts': '/' }),
        keymap.of([
          { key: 'ArrowUp', run: (view) => recall(view, 1) },
          { key: 'ArrowDown', run: (view) => recall(view, -1) || openOnEmpty(view) },
        ]),
      ]}
    />
  );
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
