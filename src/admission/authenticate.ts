/**
 * Authentication and authorisation by the token of a request. Answers do not distinguish
 * unknown, revoked and expired tokens.
 */
import type { Receiver, ReceiverKind, Scope, TokenGrant, TokenType } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { RequestHeaders, TokenPlace } from '../model/request.ts';

/** One token68 (RFC 9110 §11.2). */
const tokenPattern = /^[a-z0-9._~+/-]{1,512}=*$/i;
/** The case of the scheme does not matter (RFC 9110 §11.1). */
const credentialsPattern = /^([a-z]+) +(\S{1,1100})$/i;
const base64Pattern = /^[a-z0-9+/]+={0,2}$/i;

type Scheme = 'bearer' | 'basic' | 'apikey' | 'splunk' | 'token';

/** Schemes besides Bearer. */
const places: Readonly<
  Record<TokenPlace, { readonly schemes: readonly Scheme[]; readonly advice: string }>
> = {
  basic: { schemes: ['basic'], advice: ', or "Basic" with the token as password' },
  'dd-api-key': { schemes: [], advice: ', or "DD-API-KEY: <token>"' },
  'api-key': {
    schemes: ['basic', 'apikey'],
    advice: ', or "ApiKey" with the token as key, or "Basic" with the token as password',
  },
  splunk: {
    schemes: ['basic', 'splunk'],
    advice: ', or "Splunk <token>", or "Basic" with the token as password',
  },
  token: {
    schemes: ['basic', 'token'],
    advice: ', or "Token <token>", or "Basic" with the token as password',
  },
};

/**
 * @param place where the token may be besides `Authorization: Bearer <token>`
 * @throws AppError `unauthenticated` unless there is exactly one
 */
export function bearerToken(headers: RequestHeaders, place?: TokenPlace): string {
  const keys = place === 'dd-api-key' ? headers.datadogKey : [];
  const [value, second] =
    keys.length === 0
      ? headers.authorization
      : [...headers.authorization, ...keys.map((key) => `Bearer ${key}`)];
  const { schemes, advice } = place === undefined ? { schemes: [], advice: '' } : places[place];
  if (value === undefined) {
    throw unauthenticated(`cannot find a token: send "Authorization: Bearer <token>"${advice}`);
  }
  if (second !== undefined) {
    const names = place === 'dd-api-key' ? 'headers with a token' : 'Authorization headers';
    throw unauthenticated(`cannot choose between two ${names}: send exactly one`);
  }
  const token = readCredentials(value, schemes);
  if (token === undefined) {
    const name = keys.length > 0 ? 'DD-API-KEY' : 'Authorization';
    throw unauthenticated(`cannot read the ${name} header: send "Bearer" and one token${advice}`);
  }
  return token;
}

function readCredentials(value: string, schemes: readonly Scheme[]): string | undefined {
  const [, name = '', sent = ''] = credentialsPattern.exec(value) ?? [];
  const scheme = name.toLowerCase();
  if (scheme !== 'bearer' && !schemes.some((one) => one === scheme)) return undefined;
  const token = scheme === 'basic' || scheme === 'apikey' ? readPair(sent, scheme) : sent;
  return tokenPattern.test(token) ? token : undefined;
}

/**
 * What follows the colon of `user:password` (RFC 7617) or `id:key` in base64. Clients of
 * Elasticsearch may also send a key as it is.
 */
function readPair(sent: string, scheme: 'basic' | 'apikey'): string {
  const pair = base64Pattern.test(sent) ? Buffer.from(sent, 'base64').toString() : '';
  const colon = pair.indexOf(':');
  if (colon < 0 && scheme === 'apikey') return sent;
  return pair.slice(colon + 1);
}

/** @throws AppError `unauthenticated` */
export function checkTokenInForce(
  token: TokenGrant | undefined,
  type: TokenType,
  nowMs: number,
): TokenGrant {
  const isInForce =
    token !== undefined &&
    token.type === type &&
    !token.revoked &&
    (token.expiresAtMs === null || token.expiresAtMs > nowMs);
  if (!isInForce) {
    const isOther = token !== undefined && token.type !== type;
    const fault = isOther
      ? `it is an ${token.type} token, and this address takes ${type} tokens`
      : `it is not a valid ${type} token`;
    throw unauthenticated(`cannot accept this token: ${fault}`);
  }
  return token;
}

/** @throws AppError `forbidden` */
export function checkBinding(token: TokenGrant, receiver: Receiver): void {
  if (token.receiverId !== receiver.receiverId) {
    throw new AppError('forbidden', 'cannot use this token here: it belongs to another receiver');
  }
  if (!token.accountIds.includes(receiver.accountId)) {
    throw new AppError('forbidden', 'cannot use this token here: it belongs to another account');
  }
}

/** @throws AppError `forbidden` */
export function checkReceiver(receiver: Receiver, kind: ReceiverKind): void {
  if (!receiver.active) {
    throw new AppError('forbidden', 'cannot accept data: this receiver is not active');
  }
  if (receiver.kind !== kind) {
    throw new AppError(
      'forbidden',
      `cannot accept this protocol: the receiver is of kind ${receiver.kind}, the route of ${kind}`,
    );
  }
}

/** @throws AppError `forbidden` */
export function checkScope(token: TokenGrant, scope: Scope): void {
  if (token.scopes.has(scope)) return;
  throw new AppError('forbidden', `cannot do this with the token: it lacks the scope ${scope}`);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The account of a reader, in lower case. @throws AppError `malformed` */
export function activeAccount([value, second]: readonly string[]): string {
  if (value === undefined || second !== undefined || !uuidPattern.test(value)) {
    const fault =
      value === undefined
        ? 'send its UUID as X-Active-Account'
        : second === undefined
          ? `${JSON.stringify(value.slice(0, 100))} is not a UUID`
          : 'it is named more than once';
    throw new AppError('malformed', `cannot determine the account: ${fault}`, {
      parameter: 'X-Active-Account',
    });
  }
  return value.toLowerCase();
}

/** @throws AppError `forbidden` */
export function checkAccount(
  token: Pick<TokenGrant, 'accountIds' | 'allAccounts'>,
  accountId: string,
): void {
  if (token.allAccounts || token.accountIds.includes(accountId)) return;
  throw new AppError(
    'forbidden',
    'cannot read this account with the token: use an access token that lists the account',
  );
}

function unauthenticated(message: string): AppError {
  return new AppError('unauthenticated', message);
}
