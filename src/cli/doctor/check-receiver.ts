/**
 * Whether a receiver takes data with its token: an empty array goes the whole way of a request and
 * stores nothing.
 */
import { reasonOf } from '../http.ts';
import { wordsOf } from './check-reader.ts';
import { type Finding, found, skipped } from './finding.ts';
import type { Places } from './places.ts';
import { type Answer, probeHttp } from './probe.ts';

const check = 'sending';

/** What to do about each status (docs/senders/README.md). */
const adviceByStatus: Readonly<Record<number, string>> = {
  401: 'issue another: weir token create NAME --receiver RECEIVER_ID',
  403: 'weir receiver show RECEIVER_ID: is it active, of kind http_json, may this address send?',
  404: 'use the URL exactly as it was issued (weir receiver show), with nothing appended',
  405: 'use the URL exactly as it was issued (weir receiver show)',
  415: 'the URL must be the one of a receiver of kind http_json',
  429: 'the quota is used up: weir receiver update RECEIVER_ID --events-per-second …',
  503: 'the service refuses logs for now: look at its disk, its queue and its log',
};

export async function checkReceiver(places: Places): Promise<Finding> {
  const { receiverUrl, ingestToken, ca } = places;
  if (receiverUrl === undefined || ingestToken === undefined) {
    return skipped(check, 'no receiver given (--receiver-url, --ingest-token)');
  }
  try {
    const answer = await probeHttp(receiverUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingestToken}`, 'content-type': 'application/json' },
      body: '[]',
      ca,
    });
    return judge(answer);
  } catch (error) {
    const reason = error instanceof Error ? reasonOf(error) : String(error);
    return { check, status: 'fail', says: `no answer: ${reason}` };
  }
}

function judge(answer: Answer): Finding {
  const { accepted } = (answer.body ?? {}) as { accepted?: unknown };
  if (answer.status === 202 && accepted === 0) {
    return found(check, 'the receiver takes data with this token');
  }
  return {
    check,
    status: 'fail',
    says: `refused: ${wordsOf(answer)} (${answer.status})`,
    advice:
      adviceByStatus[answer.status] ?? 'this is not what a receiver of kind http_json answers',
  };
}
