/** The alerts that a draft of rules would have raised in the past. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import { serviceNowMs } from '../api/service-clock.ts';
import { useApp } from '../app/context.ts';
import { useChange } from '../manage/control.ts';
import { Button } from '../parts/controls/button.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { Card } from '../parts/layout/page.tsx';
import { toPreviewed } from './alert-spans.ts';
import { RangeSelect, type RangeName, ranges } from './range-select.tsx';
import styles from './rule-draft.module.css';
import { StateTimeline } from './state-timeline.tsx';

export interface RulePreviewProps {
  readonly text: string;
  readonly streamId: string;
  readonly canRun: boolean;
}

/** Of evaluations; the service does up to 1,500. Counts of round times are read at once. */
const stepMinutes = [1, 5, 10, 30];

export function RulePreview({ text, streamId, canRun }: RulePreviewProps) {
  const { api } = useApp();
  const [range, setRange] = useState<RangeName>('6h');
  const preview = useChange(
    async ({ rules, untilMs, spanMs }: { rules: string; untilMs: number; spanMs: number }) => {
      const path = '/api/v1/admin/streams/{streamId}/rule-groups/preview';
      const body = {
        rules,
        sinceTime: new Date(untilMs - spanMs).toISOString(),
        untilTime: new Date(untilMs).toISOString(),
        step: `${stepMinutes.find((step) => spanMs / step < 1500 * 60_000) ?? 60}m`,
      };
      const answer = await dataOf(api.POST(path, { params: { path: { streamId } }, body }));
      return { ...answer, fromMs: untilMs - spanMs, untilMs, of: { rules, streamId } };
    },
    () => undefined,
  );
  const { data } = preview;
  const isOutdated =
    data !== undefined && (data.of.rules !== text || data.of.streamId !== streamId);
  const failures = data?.groups.flatMap((group) => group.failures) ?? [];
  return (
    <Card>
      <div className={styles.actions}>
        <h2>Preview</h2>
        <RangeSelect label="Preview over" value={range} onChange={setRange} />
        <Button
          isDisabled={!canRun || preview.isBusy}
          onPress={() =>
            preview.start({ rules: text, untilMs: serviceNowMs(), spanMs: ranges[range].ms })
          }
        >
          {preview.isBusy ? 'Evaluating…' : 'Preview'}
        </Button>
      </div>
      {preview.error !== null && <ProblemNotice error={preview.error} />}
      {data === undefined && preview.error === null && (
        <p>
          Which alerts these rules would have raised over stored data. Nothing is saved or sent.
        </p>
      )}
      {isOutdated && preview.error === null && (
        <Notice tone="quiet">The rules have changed since this preview.</Notice>
      )}
      {failures.map(({ rule, evaluations, lastError }) => (
        <Notice key={rule} tone="warning">
          {rule} failed in {evaluations} evaluations: {lastError}
        </Notice>
      ))}
      {data && (
        <>
          <p role="status">
            {data.alerts.length === 1 ? '1 alert' : `${data.alerts.length} alerts`}, of which{' '}
            {data.alerts.filter(({ firedAt }) => firedAt !== null).length} fired, in{' '}
            {data.groups.reduce((sum, { evaluations }) => sum + evaluations, 0)} evaluations.
          </p>
          {data.alerts.length > 0 && (
            <StateTimeline
              label="Alerts of the preview"
              histories={toPreviewed(data.alerts, data.untilMs)}
              fromMs={data.fromMs}
              untilMs={data.untilMs}
            />
          )}
        </>
      )}
    </Card>
  );
}
