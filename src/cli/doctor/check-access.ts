/** Checks the tokens: the receiver takes data, the access token reads and manages. */
import type { Receiver } from '../../model/account.ts';
import { toError } from '../../std/error-text.ts';
import { problemText, reasonOf } from '../http.ts';
import { failure, type Finding, found, skipped, warning } from './finding.ts';
import type { Targets } from './targets.ts';
import { type ProbeResponse, probeHttp } from './probe.ts';

interface Whoami {
  readonly tokenId: string;
  readonly scopes: readonly string[];
  readonly accounts: readonly { readonly accountId: string; readonly name: string }[];
}

type Get = (path: string) => Promise<ProbeResponse | Error>;

const slowReadMs = 2000;
const dayMs = 24 * 60 * 60 * 1000;
const warnDays = 14;

/** By status of a receiver's response (docs/senders/README.md). */
const adviceByStatus: Readonly<Record<number, string>> = {
  401: 'issue another: weir token create NAME --receiver RECEIVER_ID',
  403: 'check with weir receiver show RECEIVER_ID: state, kind http_json, allowed addresses',
  404: 'use the URL exactly as it was issued (weir receiver show), with nothing appended',
  405: 'use the URL exactly as it was issued (weir receiver show)',
  415: 'the URL must be the one of a receiver of kind http_json',
  429: 'the quota is used up: weir receiver update RECEIVER_ID --events-per-second …',
  503: 'the service refuses logs for now: check its disk, its queue and its log',
};

/** Posts an empty array, which is processed like any request and stores nothing. */
export async function checkReceiver({ receiverUrl, ingestToken, ca }: Targets): Promise<Finding> {
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
      return found(check, 'the receiver accepts data with this token');
    }
    const advice =
      adviceByStatus[status] ?? 'check that the URL is that of a receiver of kind http_json';
    return failure(check, `refused: ${textOf({ status, body })}`, advice);
  } catch (error) {
    return failure(check, `no response: ${reasonOf(error)}`);
  }
}

/** @param url of the stream port */
export async function checkReader(targets: Targets, url: URL): Promise<Finding[]> {
  const { accessToken, ca } = targets;
  const check = 'access token';
  if (accessToken === undefined) return [skipped(check, 'none given (--token, WEIR_TOKEN)')];
  const headers = { authorization: `Bearer ${accessToken}` };
  const response = await createGet(url, ca, headers)('/api/v1/admin/whoami');
  if (response instanceof Error) return [failure(check, `no response: ${reasonOf(response)}`)];
  if (response.status !== 200) {
    const advice =
      response.status >= 500
        ? 'the token was not checked: see directory.url, and the log of the service'
        : 'give another (--token, WEIR_TOKEN), or create one: weir token recover --data DIR';
    return [failure(check, `refused: ${textOf(response)}`, advice)];
  }
  const whoami = response.body as Whoami;
  const account = targets.accountId ?? whoami.accounts[0]?.accountId;
  if (!whoami.accounts.some(({ accountId }) => accountId === account)) {
    const known = whoami.accounts.map(({ accountId, name }) => `${name} ${accountId}`);
    const says = `it does not grant the account ${account ?? '(none)'}`;
    const choices = known.join(', ') || 'none';
    const advice = `choose one that it grants (--account, WEIR_ACCOUNT): ${choices}`;
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
  const response = await get(`/api/v1/admin/tokens/${encodeURIComponent(tokenId)}`);
  const body = response instanceof Error ? undefined : response.body;
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
  const response = await get('/api/v1/logs?limit=1');
  const checkStore = 'check the log of the service for its engine, or store.url';
  if (response instanceof Error) {
    return failure(check, `no response: ${reasonOf(response)}`, checkStore);
  }
  if (response.status !== 200) return failure(check, textOf(response), checkStore);
  const says = `the newest log in ${Math.max(1, Math.round(response.tookMs))} ms`;
  if (response.tookMs < slowReadMs) return found(check, says);
  return warning(check, says, 'the machine of the store may be overloaded');
}

type KnownReceiver = Pick<Receiver, 'receiverId' | 'name' | 'active'>;

async function checkReceivers(get: Get, { scopes }: Whoami): Promise<Finding[]> {
  const check = 'receivers';
  if (!scopes.includes('admin')) return [skipped(check, 'the token lacks the scope admin')];
  const response = await get('/api/v1/admin/receivers');
  if (response instanceof Error || response.status !== 200) return [];
  const { receivers } = response.body as { receivers: readonly KnownReceiver[] };
  const inactive = receivers.filter(({ active }) => !active);
  const [first] = inactive;
  if (first === undefined) return [found(check, `${receivers.length}, all active`)];
  const names = inactive.map(({ name, receiverId }) => `${name} (${receiverId})`).join(', ');
  const says = `${inactive.length} of ${receivers.length} are inactive: ${names}`;
  return [warning(check, says, `weir receiver activate ${first.receiverId}`)];
}

function textOf({ body, status }: Pick<ProbeResponse, 'body' | 'status'>): string {
  return `${problemText(body) ?? 'no reason given'} (${status})`;
}
