/** A draft of rules with its faults, its preview, and the button that saves it. */
import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf } from '../api/client.ts';
import type { Stream } from '../api/models.ts';
import { ApiProblem } from '../api/problem.ts';
import { useApp } from '../app/context.ts';
import { useChange } from '../manage/control.ts';
import { Button } from '../parts/controls/button.tsx';
import { SelectField } from '../parts/controls/fields.tsx';
import { CheckedText } from '../parts/editor/checked-text.tsx';
import type { TextFault } from '../parts/editor/text-fault.ts';
import { usePaused } from '../parts/editor/use-paused.ts';
import { Failure } from '../parts/feedback/answer.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { Card } from '../parts/layout/page.tsx';
import { readRuleGroup, useRules } from './alert-reads.ts';
import styles from './rule-draft.module.css';
import { RulePreview } from './rule-preview.tsx';
import { groupNamesOf, toRuleFaults } from './rule-text.ts';
import { useKeptDraft } from '../app/use-kept-draft.ts';

export interface RuleDraftProps {
  readonly initial: string;
  readonly streamId: string;
  /** The stored group that is edited; undefined = new rules. */
  readonly group: string | undefined;
  /** To choose from; one or none = no choice. */
  readonly streams: readonly Stream[];
  readonly onStream: (streamId: string) => void;
  /** Reads the stored group again. */
  readonly onReload: () => void;
  readonly onSaved: () => void;
}

export function RuleDraft({ initial, streamId, group, streams, ...done }: RuleDraftProps) {
  const { api, session } = useApp();
  const toast = useToast();
  const edited = group === undefined ? initial : `${streamId} ${group}`;
  const kept = useKeptDraft(`${session.accountId} ${edited}`, initial);
  const { base, text } = kept.draft;
  const check = useCheck(text);
  const faults = (check.text === text && check.data) || noFaults;
  const save = useChange(
    async ({ isForced }: { isForced: boolean }) => {
      if (group !== undefined && !isForced) await assertUnchanged(api, streamId, group, base);
      const params = { path: { streamId } };
      const path = '/api/v1/admin/streams/{streamId}/rule-groups';
      return dataOf(api.PUT(path, { params, body: { rules: text } }));
    },
    ({ groups }) => {
      kept.forget();
      toast(groups === 1 ? 'Saved the group' : `Saved ${groups} groups`);
      done.onSaved();
    },
  );
  const discard = () => {
    save.reset();
    kept.discard();
    done.onReload();
  };
  return (
    <>
      <Card>
        {streams.length > 1 && (
          <SelectField
            label="Stream"
            value={streamId}
            options={streams.map((stream) => ({ value: stream.streamId, label: stream.name }))}
            hint="Expressions read this stream, and recorded metrics are written to it."
            onChange={done.onStream}
          />
        )}
        {kept.isRestored && (
          <Notice tone="quiet">
            These rules have changes that you have not saved.{' '}
            <Button onPress={discard}>Discard them</Button>
          </Notice>
        )}
        <CheckedText label="Rules" text={text} faults={faults} onText={kept.setText} />
        <Failure of={check} />
        <Replaced text={text} streamId={streamId} group={group} />
        {save.error instanceof ChangedMeanwhile ? (
          <Notice tone="warning">
            {save.error.message} <Button onPress={discard}>Discard mine</Button>{' '}
            <Button tone="danger" onPress={() => save.start({ isForced: true })}>
              Save mine
            </Button>
          </Notice>
        ) : (
          save.error !== null && faults.length === 0 && <ProblemNotice error={save.error} />
        )}
        <div className={styles.actions}>
          <Button
            tone="primary"
            isDisabled={save.isBusy || faults.length > 0}
            onPress={() => save.start({ isForced: false })}
          >
            {save.isBusy ? 'Saving…' : 'Save'}
          </Button>
        </div>
      </Card>
      <RulePreview text={text} streamId={streamId} canRun={faults.length === 0} />
    </>
  );
}

const noFaults: readonly TextFault[] = [];

class ChangedMeanwhile extends Error {}

/** @throws ChangedMeanwhile, ApiProblem */
async function assertUnchanged(api: Api, streamId: string, group: string, base: string) {
  const present = await readRuleGroup(api, streamId, group).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  });
  if (present === base) return;
  const what = present === undefined ? 'deleted' : 'changed';
  throw new ChangedMeanwhile(`${group} was ${what} since you began to edit it.`);
}

/** Groups of the same names are replaced, and a renamed group remains. */
function Replaced({
  text,
  streamId,
  group,
}: Record<'text' | 'streamId', string> & { group: string | undefined }) {
  const rules = useRules();
  const names = groupNamesOf(text);
  const known = rules.data?.filter(({ file }) => file === streamId).map(({ name }) => name) ?? [];
  const replaced = names.filter((name) => known.includes(name) && name !== group);
  return (
    <>
      {replaced.length > 0 && (
        <Notice tone="warning">Saving replaces the rules of {replaced.join(', ')}.</Notice>
      )}
      {group !== undefined && !names.includes(group) && (
        <Notice tone="warning">
          The rules are saved under another name: {group} stays until you delete it.
        </Notice>
      )}
    </>
  );
}

/** What the service says of the text, once typing has paused. */
function useCheck(text: string) {
  const { api } = useApp();
  const paused = usePaused(text);
  const { data, error, refetch } = useQuery({
    queryKey: ['rule check', paused],
    gcTime: 60_000,
    queryFn: async (): Promise<readonly TextFault[]> => {
      try {
        await dataOf(api.POST('/api/v1/admin/rule-groups/check', { body: { rules: paused } }));
        return noFaults;
      } catch (problem) {
        if (!(problem instanceof ApiProblem && problem.status === 400)) throw problem;
        return toRuleFaults(paused, problem);
      }
    },
  });
  return { text: paused, data, error, refetch };
}
