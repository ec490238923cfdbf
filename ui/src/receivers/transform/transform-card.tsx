/** The transform of a receiver: edited as JSON, tried out on stored logs, saved, removed. */
import { useState } from 'react';
import { dataOf } from '../../api/client.ts';
import type { Receiver, TransformStep } from '../../api/models.ts';
import { useApp, useScope } from '../../app/context.ts';
import { useChange } from '../../manage/control.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Menu } from '../../parts/controls/menu.tsx';
import { CheckedText } from '../../parts/editor/checked-text.tsx';
import { Failure } from '../../parts/feedback/answer.tsx';
import { Loading } from '../../parts/feedback/loading.tsx';
import { Notice } from '../../parts/feedback/notice.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { useToast } from '../../parts/feedback/toasts.tsx';
import { ConfirmDialog } from '../../parts/layout/confirm-dialog.tsx';
import { Card } from '../../parts/layout/page.tsx';
import styles from './transform-card.module.css';
import { TransformPreview } from './transform-preview.tsx';
import { examples, isFault, readSteps, toText, withStep } from './transform-text.ts';
import { type Trial, useTrial } from './use-trial.ts';

export function TransformCard({ receiver }: { receiver: Receiver }) {
  const saved = receiver.transform;
  const [isOpen, setIsOpen] = useState(saved.length > 0);
  return (
    <Card title="Transform">
      <p className="quiet">
        Steps that change or drop logs before they are stored, in order. Stored logs do not change.
      </p>
      {isOpen ? (
        <TransformDraft receiver={receiver} saved={saved} onClose={() => setIsOpen(false)} />
      ) : (
        <div>
          <Button onPress={() => setIsOpen(true)}>Add a transform</Button>
        </div>
      )}
    </Card>
  );
}

interface TransformDraftProps {
  readonly receiver: Receiver;
  readonly saved: readonly TransformStep[];
  readonly onClose: () => void;
}

function TransformDraft({ receiver, saved, onClose }: TransformDraftProps) {
  const { api } = useApp();
  const toast = useToast();
  const [text, setText] = useState(() => toText(saved));
  const [isRemoving, setIsRemoving] = useState(false);
  const { receiverId } = receiver;
  const trial = useTrial(receiver, text);
  const save = useChange(
    (transform: TransformStep[]) =>
      dataOf(
        api.PATCH('/api/v1/admin/receivers/{receiverId}', {
          params: { path: { receiverId } },
          body: { transform },
        }),
      ),
    ({ transform }) => {
      if (transform.length === 0) {
        toast('Removed the transform; logs are stored as they arrive within 5 seconds');
        return onClose();
      }
      // The service adds defaults.
      setText(toText(transform));
      toast('Saved the transform; it takes effect within 5 seconds');
    },
  );
  const submit = () => {
    const steps = readSteps(text);
    if (!isFault(steps)) save.start([...steps]);
  };
  const isSaved = saved.length > 0;
  return (
    <>
      <CheckedText label="Transform" text={text} faults={trial.faults} onText={setText} />
      {save.error !== null && trial.faults.length === 0 && <ProblemNotice error={save.error} />}
      <div className={styles.actions}>
        <Button tone="primary" isDisabled={save.isBusy || trial.faults.length > 0} onPress={submit}>
          {save.isBusy ? 'Saving…' : 'Save transform'}
        </Button>
        <Menu
          label="Add a step"
          icon="plus"
          items={examples.map(({ label, step }) => ({
            label,
            onPick: () => setText((latest) => withStep(latest, step) ?? latest),
          }))}
        />
        {isSaved ? (
          <Button tone="danger" onPress={() => setIsRemoving(true)}>
            Remove transform
          </Button>
        ) : (
          <Button onPress={onClose}>Cancel</Button>
        )}
      </div>
      <Preview trial={trial} isSaved={isSaved} />
      {isRemoving && (
        <ConfirmDialog
          title="Remove the transform?"
          action="Remove"
          isBusy={save.isBusy}
          error={save.error}
          onConfirm={() => save.start([])}
          onClose={() => setIsRemoving(false)}
        >
          <p>Its steps are deleted, and logs are stored as they arrive.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface PreviewProps {
  readonly trial: Trial;
  readonly isSaved: boolean;
}

function Preview({ trial: { logs, outcome, error, isLoading }, isSaved }: PreviewProps) {
  const canRead = useScope('logs:read');
  return (
    <>
      <div className={styles.actions}>
        <h3>Preview</h3>
        {canRead && (
          <Button isDisabled={logs.isFetching} onPress={() => void logs.refetch()}>
            Load the newest logs
          </Button>
        )}
      </div>
      {!canRead && (
        <Notice tone="quiet">The preview needs a token with the scope logs:read.</Notice>
      )}
      <Failure of={logs} />
      {error !== null && <ProblemNotice error={error} />}
      {isLoading && <Loading what="Loading the preview" />}
      {logs.data?.length === 0 && (
        <Notice tone="quiet">The stream has no logs to try the steps on.</Notice>
      )}
      {outcome !== undefined && outcome.samples.length > 0 && (
        <>
          {isSaved && (
            <p className="quiet">
              Logs that came with the saved steps have passed them: what those parsed, removed or
              redacted is not in them again.
            </p>
          )}
          <TransformPreview samples={outcome.samples} results={outcome.results} />
        </>
      )}
    </>
  );
}
