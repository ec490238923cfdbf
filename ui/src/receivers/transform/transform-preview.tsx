/** What a transform does to the newest logs of a stream. */
import type { TransformPreview as Preview } from '../../api/models.ts';
import { Badge } from '../../parts/feedback/badge.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { LongText } from '../../parts/text/long-text.tsx';
import { type ChangedSample, changedSamples, type Difference, type Fields } from './samples.ts';
import styles from './transform-preview.module.css';

export interface TransformPreviewProps {
  readonly samples: readonly Fields[];
  /** One for each sample. */
  readonly results: Preview['results'];
}

export function TransformPreview({ samples, results }: TransformPreviewProps) {
  const changed = changedSamples(samples, results);
  const dropped = changed.filter(({ isDropped }) => isDropped).length;
  const different = changed.filter(({ differences }) => differences.length > 0).length;
  const kept = samples.length - dropped - different;
  const counts = `${dropped} dropped, ${different} changed, ${kept} left as they are`;
  return (
    <>
      <p role="status">{`Of the ${samples.length} newest logs of the stream: ${counts}.`}</p>
      {changed.length > 0 && (
        <ol className={styles.samples} aria-label="Logs before and after the transform">
          {changed.map((sample, index) => (
            // Index keys: samples never reorder.
            <li key={index}>
              <Sample sample={sample} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function Sample({
  sample: { message, isDropped, changes, differences },
}: {
  sample: ChangedSample;
}) {
  const isMessageShown = differences.some(({ field }) => field === 'message');
  return (
    <>
      <div className={styles.changes}>
        {changes.map((change) => (
          <Badge key={change} tone={isDropped ? 'danger' : 'warning'}>
            {change}
          </Badge>
        ))}
      </div>
      {!isMessageShown && (
        <div className={styles.message}>
          {isDropped ? (
            <del dir="auto">
              <Value text={message} />
            </del>
          ) : (
            <bdi dir="auto">
              <Value text={message} />
            </bdi>
          )}
        </div>
      )}
      {differences.length > 0 && (
        <dl className={styles.differences}>
          {differences.map((difference) => (
            <div key={difference.field}>
              <dt>
                <LogText text={difference.field} />
              </dt>
              <dd>
                <BeforeAfter difference={difference} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function BeforeAfter({ difference: { before, after } }: { difference: Difference }) {
  return (
    <>
      {before !== undefined && (
        <del dir="auto">
          <span className="only-read">before: </span>
          <Value text={before} />
        </del>
      )}
      {after !== undefined && (
        <ins dir="auto">
          <span className="only-read">after: </span>
          <Value text={after} />
        </ins>
      )}
    </>
  );
}

function Value({ text }: { text: string }) {
  return <LongText text={text} maxLength={500} />;
}
