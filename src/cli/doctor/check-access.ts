/** Checks the tokens: the receiver takes data, the access token reads and manages. */
import { toError } from '../../std/error-text.ts';
import { problemText, reasonOf } from '../http.ts';
import { failure, type Finding, found, skipped, warning } from './finding.ts';
import type { Places } from './places.ts';
import { type Answer, probeHttp } from './probe.ts';

interface Whoami {
  readonly tokenId: string;
  readonly scopes: readonly string[];
  readonly accounts: readonly { readonly accountId: string; readonly name: string }[];
}

type Get = (path: string) => Promise<Answer | Error>;

const slowReadMs = 2000;
const dayMs = 24 * 60 * 60 * 1000;
const warnDays = 14;

/** By status of a receiver's answer (docs/senders/README.md). */
const adviceByStatus: Readonly<Record<number, string>> = {
  401: 'issue another: weir token create NAME --receiver RECEIVER_ID',
  403: 'weir receiver show RECEIVER_ID: is it active, of kind http_json, may this address send?',
  404: 'use the URL exactly as it was issued (weir receiver show), with nothing appended',
  405: 'use the URL exactly as it was issued (weir receiver show)',
  415: 'the URL must be the one of a receiver of kind http_json',
  429: 'the quota is used up: weir receiver update RECEIVER_ID --events-per-second …',
  503: 'the service refuses logs for now: look at its disk, its queue and its log',
};

/** Posts an empty array, which is processed like any request and stores nothing. */
export async function checkReceiver({ receiverUrl, ingestToken, ca }: Places): Promise<Finding> {
  const check = 'sending';
  if (receiverUrl === undefined || ingestToken === undefined) {
    return skipped(check, 'no receiver given (--receiver-url, --ingest-token)');
  }
  try {
    const { status, body } = await probeHttp(receiverUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingestToken}`, 'content-type': 'application/json' },
      body: '[]',
      ca,
    });
    const { accepted } = (body ?? {}) as { accepted?: unknown };
    if (status === 202 && accepted === 0) {
      return found(check, 'the receiver takes data with this token');
    }
    const advice =
      adviceByStatus[status] ?? 'this is not what a receiver of kind http_json answers';
    return failure(check, `refused: ${textOf({ status, body })}`, advice);
  } catch (error) {
    return failure(check, `no answer: ${reasonOf(error)}`);
  }
}

/** @param url of the stream port */
export async function checkReader(places: Places, url: URL): Promise<Finding[]> {
  const { accessToken, ca } = places;
  const check = 'access token';
  if (accessToken === undefined) return [skipped(check, 'none given (--token, WEIR_TOKEN)')];
  const headers = { authorization: `Bearer ${accessToken}` };
  const answer = await createGet(url, ca, headers)('/api/v1/admin/whoami');
  if (answer instanceof Error) return [failure(check, `cannot ask: ${reasonOf(answer)}`)];
  if (answer.status !== 200) {
    const advice =
      answer.status >= 500
        ? 'that says nothing of the token: look at directory.url, and at the log of the service'
        : 'give another (--token, WEIR_TOKEN); all lost? weir token recover --data DIR';
    return [failure(check, `refused: ${textOf(answer)}`, advice)];
  }
  const whoami = answer.body as Whoami;
  const account = places.accountId ?? whoami.accounts[0]?.accountId;
  if (!whoami.accounts.some(({ accountId }) => accountId === account)) {
    const known = whoami.accounts.map(({ accountId, name }) => `${name} ${accountId}`);
    const says = `it does not open the account ${account ?? '(none)'}`;
    const choices = known.join(', ') || 'there is none';
    const advice = `choose one that it opens (--account, WEIR_ACCOUNT): ${choices}`;
    return [failure(check, says, advice)];
  }
  const get = createGet(url, ca, { ...headers, 'x-active-account': account! });
  return [
    await judgeToken(check, get, whoami),
    await checkRead(get, whoami),
    ...(await checkReceivers(get, whoami)),
  ];
}

function createGet(url: URL, ca: string | undefined, headers: Record<string, string>): Get {
  return (path) => probeHttp(new URL(path, url), { ca, headers }).catch(toError);
}

async function judgeToken(
  check: string,
  get: Get,
  { tokenId, scopes, accounts }: Whoami,
): Promise<Finding> {
  const says = `${scopes.join(', ')} in ${accounts.map(({ name }) => name).join(', ')}`;
  if (!scopes.includes('admin')) return found(check, says);
  const answer = await get(`/api/v1/admin/tokens/${encodeURIComponent(tokenId)}`);
  const body = answer instanceof Error ? undefined : answer.body;
  const { expiresAt } = (body ?? {}) as { expiresAt?: string | null };
  if (typeof expiresAt !== 'string') return found(check, says);
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs);
  if (days >= warnDays) return found(check, `${says}, ${days} days left`);
  const advice = `weir token update ${tokenId} --expires-at never`;
  return warning(check, `it expires at ${expiresAt}`, advice);
}

async function checkRead(get: Get, { scopes }: Whoami): Promise<Finding> {
  const check = 'reading';
  if (!scopes.includes('logs:read')) return skipped(check, 'the token lacks the scope logs:read');
  const answer = await get('/api/v1/logs?limit=1');
  const lookAtStore = 'look at the log of the service for its engine, or at store.url';
  if (answer instanceof Error) {
    return failure(check, `no answer: ${reasonOf(answer)}`, lookAtStore);
  }
  if (answer.status !== 200) return failure(check, textOf(answer), lookAtStore);
  const says = `the newest log in ${Math.max(1, Math.round(answer.tookMs))} ms`;
  if (answer.tookMs < slowReadMs) return found(check, says);
  return warning(check, says, 'the machine of the store may be overloaded');
}

interface KnownReceiver {
  readonly receiverId: string;
  readonly name: string;
  readonly active: boolean;
}

async function checkReceivers(get: Get, { scopes }: Whoami): Promise<Finding[]> {
  const check = 'receivers';
  if (!scopes.includes('admin')) return [skipped(check, 'the token lacks the scope admin')];
  const answer = await get('/api/v1/admin/receivers');
  if (answer instanceof Error || answer.status !== 200) return [];
  const { receivers } = answer.body as { receivers: readonly KnownReceiver[] };
  const inactive = receivers.filter(({ active }) => !active);
  const [first] = inactive;
  if (first === undefined) return [found(check, `${receivers.length}, all active`)];
  const names = inactive.map(({ name, receiverId }) => `${name} (${receiverId})`).join(', ');
  const says = `${inactive.length} of ${receivers.length} take no data: ${names}`;
  return [warning(check, says, `weir receiver activate ${first.receiverId}`)];
}

function textOf({ body, status }: Pick<Answer, 'body' | 'status'>): string {
  return `${problemText(body) ?? 'it gives no reason'} (${status})`;
}
