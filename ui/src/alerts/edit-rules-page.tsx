/** Rule groups as YAML: checked while they are written, previewed over past data, saved. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { navigate, useSearch } from 'wouter/use-browser-location';
import { useApp } from '../app/context.ts';
import type { Session } from '../app/session.ts';
import { keptDraft } from '../app/use-kept-draft.ts';
import { useStreams } from '../manage/control.ts';
import { Failure } from '../parts/feedback/answer.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { Page } from '../parts/layout/page.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { RuleDraft } from './rule-draft.tsx';
import { readRuleGroup } from './rule-file.ts';
import { ruleOfMetrics, ruleOfSearch } from './rule-text.ts';

export function EditRulesPage() {
  const parameters = new URLSearchParams(useSearch());
  const group = parameters.get('group') ?? undefined;
  const streams = useStreams();
  const streamId = parameters.get('streamId') ?? streams.data?.[0]?.streamId;
  // In the URL, so that a draft that a reload restores has its stream.
  const choose = (chosen: string) => {
    parameters.set('streamId', chosen);
    navigate(`?${parameters.toString()}`, { replace: true });
  };
  const { session } = useApp();
  const stored = useStoredGroup(streamId, group);
  const query = parameters.get('query');
  const fresh = query === null ? ruleOfMetrics(parameters.get('expr') ?? '') : ruleOfSearch(query);
  const text = group === undefined ? fresh : stored.data;
  return (
    <Page
      title={group === undefined ? 'New rules' : <Named before="Rules of" name={group} />}
      actions={<Link href="/alerts?tab=rules">All rules</Link>}
    >
      <Failure of={streams} />
      <Failure of={stored} />
      {streamId !== undefined && text !== undefined && !stored.isError ? (
        <RuleDraft
          key={group === undefined ? text : `${streamId} ${group} ${text}`}
          draft={draftName(session, group === undefined ? [text] : [streamId, group])}
          initial={text}
          streamId={streamId}
          group={group}
          streams={group === undefined ? (streams.data ?? []) : []}
          onStream={choose}
          onReload={() => void stored.refetch()}
          onSaved={() => navigate('/alerts?tab=rules')}
        />
      ) : (
        !streams.isError &&
        !stored.isError &&
        (streams.data?.length === 0 ? (
          <EmptyState title="No streams yet" action={<Link href="/streams">Streams</Link>}>
            Rules read the data of one stream. Create a stream first.
          </EmptyState>
        ) : (
          <Loading what="Loading the rules" />
        ))
      )}
    </Page>
  );
}

function draftName({ accountId }: Session, edited: readonly string[]): string {
  return [accountId, ...edited].join(' ');
}

/** A group that was deleted meanwhile is what its draft began with. */
function useStoredGroup(streamId = '', name = '') {
  const { api, session } = useApp();
  return useQuery({
    queryKey: ['rule file', streamId, name],
    enabled: streamId !== '' && name !== '',
    // What is edited must not change below the editor.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async () => {
      const stored = await readRuleGroup(api, streamId, name);
      const text = stored?.rules ?? keptDraft(draftName(session, [streamId, name]))?.base;
      if (text === undefined) throw new Error(`cannot find ${name}: no rule group has this name`);
      return text;
    },
  });
}
