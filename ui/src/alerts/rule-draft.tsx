/** A draft of rules with its faults, its preview, and the button that saves it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
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
import { useRules } from './alert-reads.ts';
import styles from './rule-draft.module.css';
import { ChangedMeanwhile, checkRules, saveRules } from './rule-file.ts';
import { RulePreview } from './rule-preview.tsx';
import { toRuleFaults } from './rule-text.ts';
import { useKeptDraft } from '../app/use-kept-draft.ts';

export interface RuleDraftProps {
  /** Name under which it is kept. */
  readonly draft: string;
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

export function RuleDraft({ initial, streamId, group, streams, ...props }: RuleDraftProps) {
  const { api } = useApp();
  const toast = useToast();
  const kept = useKeptDraft(props.draft, initial);
  const { base, text } = kept.draft;
  const check = useCheck(text);
  const faults = (check.data?.text === text && check.data.faults) || noFaults;
  const replaced = useReplaced(check.data?.groupNames ?? [], streamId, group);
  const save = useChange(
    ({ isForced }: { isForced: boolean }) => {
      const edited = group === undefined ? undefined : { name: group, base };
      return saveRules(api, { streamId, text, edited, replaced }, isForced);
    },
    ({ groups }) => {
      kept.forget();
      toast(groups === 1 ? 'Saved the group' : `Saved ${groups} groups`);
      props.onSaved();
    },
  );
  const discard = () => {
    save.reset();
    kept.discard();
    props.onReload();
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
            onChange={props.onStream}
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
        {replaced.length > 0 && (
          <Notice tone="warning">Saving replaces the rules of {replaced.join(', ')}.</Notice>
        )}
        {group !== undefined && check.data?.groupNames?.includes(group) === false && (
          <Notice tone="warning">
            The rules are saved under another name: {group} stays until you delete it.
          </Notice>
        )}
        {save.error instanceof ChangedMeanwhile ? (
          <Notice tone="warning">
            {save.error.message} <Button onPress={discard}>Discard mine</Button>{' '}
            <Button
              tone="danger"
              isDisabled={save.isBusy || faults.length > 0}
              onPress={() => save.start({ isForced: true })}
            >
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

/** Other stored groups whose names the text has. */
function useReplaced(names: readonly string[], streamId: string, group: string | undefined) {
  const rules = useRules();
  const known = rules.data?.filter(({ file }) => file === streamId).map(({ name }) => name) ?? [];
  return names.filter((name) => known.includes(name) && name !== group);
}

interface Checked {
  readonly text: string;
  readonly faults: readonly TextFault[];
  /** undefined while it has faults. */
  readonly groupNames: readonly string[] | undefined;
}

/** What the service says of the text, once typing has paused. */
function useCheck(text: string) {
  const { api } = useApp();
  const paused = usePaused(text);
  const { data, error, refetch } = useQuery({
    queryKey: ['rule check', paused],
    gcTime: 60_000,
    // The warnings about groups remain while the text is checked.
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<Checked> => {
      try {
        const { groupNames } = await checkRules(api, paused);
        return { text: paused, faults: noFaults, groupNames };
      } catch (problem) {
        if (!(problem instanceof ApiProblem && problem.status === 400)) throw problem;
        return { text: paused, faults: toRuleFaults(paused, problem), groupNames: undefined };
      }
    },
  });
  return { data, error, refetch };
}
