/** PromQL in an editor that completes names, labels, values and functions. Load it lazily. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { PromQLExtension } from '@prometheus-io/codemirror-promql';
import { QueryEditor } from '../../parts/editor/query-editor.tsx';
import type { EditedQuery } from '../../parts/editor/use-query-draft.ts';
import type { PromqlOffers } from './promql-offers.ts';

export interface PromqlEditorProps extends EditedQuery {
  /** Accessible name. */
  readonly label: string;
  readonly offers: PromqlOffers;
}

export function PromqlEditor({ offers, ...query }: PromqlEditorProps) {
  return (
    <QueryEditor
      {...query}
      hint={'rate(http_requests_total{job="api"}[5m])'}
      extensions={() => [
        // Faults come from the parser of the service, which reads newer syntax than this linter.
        new PromQLExtension()
          .activateLinter(false)
          .setComplete({ remote: offers, maxMetricsMetadata: 2000 })
          .asExtension(),
        syntaxHighlighting(colors),
      ]}
    />
  );
}

const colors = HighlightStyle.define([
  { tag: [tags.labelName, tags.variableName], color: 'var(--json-key)' },
  { tag: [tags.string, tags.number], color: 'var(--json-string)' },
  { tag: [tags.function(tags.variableName), tags.keyword], color: 'var(--accent)' },
  { tag: [tags.operator, tags.paren, tags.brace], color: 'var(--text-quiet)' },
  { tag: [tags.modifier, tags.operatorKeyword], color: 'var(--text)', fontWeight: '600' },
]);
