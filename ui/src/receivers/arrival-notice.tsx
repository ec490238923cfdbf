/** Waits for the first event and shows its arrival or the reason of a refusal. */
import { Link } from 'wouter';
import type { Receiver } from '../api/models.ts';
import { toStreamLogs } from '../manage/explore-links.ts';
import { toAddress, toReasonWords } from '../manage/reason-words.ts';
import { useStatistics } from '../manage/statistics.ts';
import { Ago } from '../parts/text/ago.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { type RefusalSample, toArrival } from './arrival.ts';
import styles from './arrival-notice.module.css';

const oftenMs = 1_000;
const lastHour = { rangeMs: 3_600_000, buckets: 1, everyMs: oftenMs } as const;

export function ArrivalNotice({ receiver }: { receiver: Receiver }) {
  const { data, error } = useStatistics(receiver.receiverId, lastHour);
  if (!receiver.active) {
    return (
      <Notice tone="warning">
        This receiver is inactive: all requests to it are refused. Activate it under Settings.
      </Notice>
    );
  }
  if (data === undefined) return error && <ProblemNotice error={error} />;
  const { acceptedAt, refusal } = toArrival(data);
  return (
    <>
      {error !== null && <ProblemNotice error={error} />}
      {refusal !== undefined && <Refused refusal={refusal} />}
      {acceptedAt !== null && <Arrived receiver={receiver} at={acceptedAt} />}
      {acceptedAt === null && refusal === undefined && (
        <Notice tone="quiet">
          <p className={styles.line}>
            <span className={styles.pulse} aria-hidden="true" />
            <span>
              Waiting for the first event… Run one of the commands below; this notice updates
              automatically.
            </span>
          </p>
        </Notice>
      )}
    </>
  );
}

function Arrived({ receiver: { kind, streamId }, at }: { receiver: Receiver; at: string }) {
  return (
    <Notice tone="success">
      <p className={styles.line}>
        <Icon name="check" />
        <span>
          Receiving data: the last request was accepted <Ago at={at} />.
        </span>
        {kind === 'prometheus' ? (
          <Link href="/explore/metrics">Show metrics</Link>
        ) : (
          <Link href={toStreamLogs(streamId)}>Show its logs</Link>
        )}
      </p>
    </Notice>
  );
}

function Refused({ refusal }: { refusal: RefusalSample }) {
  const { kind, reason, status, detail, advice, at, peerAddress } = refusal;
  const what =
    kind === 'request' ? `The last request was refused (${status})` : 'Some records were refused';
  return (
    <Notice tone="warning">
      <div className={styles.refused}>
        <p>
          <strong>
            {what}: {toReasonWords(kind, reason)}.
          </strong>{' '}
          Received <Ago at={at} /> from <LogText text={toAddress(peerAddress)} />.
        </p>
        <p>{advice}</p>
        <p className="quiet">
          Response to the sender: <LogText text={detail} />
        </p>
      </div>
    </Notice>
  );
}
