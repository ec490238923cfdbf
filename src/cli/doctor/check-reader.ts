/** Whether the access token opens what it should, and whether the store answers a small read. */
import { reasonOf } from '../http.ts';
import { type Finding, found, skipped } from './finding.ts';
import type { Places } from './places.ts';
import { type Answer, probeHttp } from './probe.ts';
import { toError } from '../../std/error-text.ts';

interface Whoami {
  readonly tokenId: string;
  readonly scopes: readonly string[];
  readonly accounts: readonly { readonly accountId: string; readonly name: string }[];
}

interface Reader {
  readonly url: URL;
  readonly ca: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const slowReadMs = 2000;
const dayMs = 24 * 60 * 60 * 1000;
const warnDays = 14;

/** @param url of the stream port */
export async function checkReader(places: Places, url: URL): Promise<Finding[]> {
  const { accessToken, ca } = places;
  if (accessToken === undefined) {
    return [skipped('access token', 'none given (--token, WEIR_TOKEN)')];
  }
  const reader = { url, ca, headers: { authorization: `Bearer ${accessToken}` } };
  const answer = await get(reader, '/api/v1/admin/whoami');
  if (answer instanceof Error) {
    return [{ check: 'access token', status: 'fail', says: `cannot ask: ${reasonOf(answer)}` }];
  }
  if (answer.status !== 200) return [refused(answer)];
  const whoami = answer.body as Whoami;
  const account = chooseAccount(whoami, places.accountId);
  if (typeof account !== 'string') return [account];
  const inAccount = { ...reader, headers: { ...reader.headers, 'x-active-account': account } };
  return [
    await judgeToken(inAccount, whoami),
    await checkRead(inAccount, whoami),
    ...(await checkReceivers(inAccount, whoami)),
  ];
}

function refused(answer: Answer): Finding {
  return {
    check: 'access token',
    status: 'fail',
    says: `refused: ${wordsOf(answer)} (${answer.status})`,
    advice:
      answer.status >= 500
        ? 'that says nothing of the token: look at directory.url, and at the log of the service'
        : 'give another (--token, WEIR_TOKEN); all lost? weir token recover --data DIR',
  };
}

/** @returns the account, or what is wrong with it. */
function chooseAccount({ accounts }: Whoami, wanted: string | undefined): string | Finding {
  const chosen = wanted ?? accounts[0]?.accountId;
  if (chosen !== undefined && accounts.some(({ accountId }) => accountId === chosen)) return chosen;
  const known = accounts.map(({ accountId, name }) => `${name} ${accountId}`).join(', ');
  return {
    check: 'access token',
    status: 'fail',
    says: `it does not open the account ${chosen ?? '(none)'}`,
    advice: `choose one that it opens (--account, WEIR_ACCOUNT): ${known || 'there is none'}`,
  };
}

async function judgeToken(reader: Reader, { tokenId, scopes, accounts }: Whoami): Promise<Finding> {
  const check = 'access token';
  const says = `${scopes.join(', ')} in ${accounts.map(({ name }) => name).join(', ')}`;
  if (!scopes.includes('admin')) return found(check, says);
  const answer = await get(reader, `/api/v1/admin/tokens/${encodeURIComponent(tokenId)}`);
  const { expiresAt } = ((answer instanceof Error ? undefined : answer.body) ?? {}) as {
    expiresAt?: string | null;
  };
  if (typeof expiresAt !== 'string') return found(check, says);
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs);
  if (days >= warnDays) return found(check, `${says}, ${days} days left`);
  const advice = `weir token update ${tokenId} --expires-at never`;
  return { check, status: 'warn', says: `it expires at ${expiresAt}`, advice };
}

async function checkRead(reader: Reader, { scopes }: Whoami): Promise<Finding> {
  const check = 'reading';
  if (!scopes.includes('logs:read')) return skipped(check, 'the token lacks the scope logs:read');
  const answer = await get(reader, '/api/v1/logs?limit=1');
  if (answer instanceof Error) {
    return { check, status: 'fail', says: `no answer: ${reasonOf(answer)}`, advice: lookAtStore };
  }
  if (answer.status !== 200) {
    const says = `${wordsOf(answer)} (${answer.status})`;
    return { check, status: 'fail', says, advice: lookAtStore };
  }
  const says = `the newest log in ${Math.max(1, Math.round(answer.tookMs))} ms`;
  if (answer.tookMs < slowReadMs) return found(check, says);
  return { check, status: 'warn', says, advice: 'the machine of the store may be overloaded' };
}

const lookAtStore = 'look at the log of the service for its engine, or at store.url';

interface KnownReceiver {
  readonly receiverId: string;
  readonly name: string;
  readonly active: boolean;
}

async function checkReceivers(reader: Reader, { scopes }: Whoami): Promise<Finding[]> {
  const check = 'receivers';
  if (!scopes.includes('admin')) return [skipped(check, 'the token lacks the scope admin')];
  const answer = await get(reader, '/api/v1/admin/receivers');
  if (answer instanceof Error || answer.status !== 200) return [];
  const { receivers } = answer.body as { receivers: readonly KnownReceiver[] };
  const inactive = receivers.filter(({ active }) => !active);
  const [first] = inactive;
  if (first === undefined) return [found(check, `${receivers.length}, all active`)];
  const names = inactive.map(({ name, receiverId }) => `${name} (${receiverId})`).join(', ');
  return [
    {
      check,
      status: 'warn',
      says: `${inactive.length} of ${receivers.length} take no data: ${names}`,
      advice: `weir receiver activate ${first.receiverId}`,
    },
  ];
}

async function get({ url, ca, headers }: Reader, path: string): Promise<Answer | Error> {
  return probeHttp(new URL(path, url), { ca, headers }).catch((error: unknown) => toError(error));
}

export function wordsOf({ body }: Answer): string {
  const { detail, title } = (body ?? {}) as { detail?: unknown; title?: unknown };
  return [detail, title].find((word) => typeof word === 'string') ?? 'it gives no reason';
}
