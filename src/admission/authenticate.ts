/**
 * Authentication and authorisation by the token of a request. Answers do not distinguish
 * unknown, revoked and expired tokens.
 */
import type { Receiver, ReceiverKind, Scope, TokenGrant, TokenType } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { RequestHeaders, TokenPlace } from '../model/request.ts';

/** One token68 after the scheme, whose case does not matter (RFC 9110 §11.1, RFC 6750 §2.1). */
const bearerPattern = /^bearer +([a-z0-9._~+/-]{1,512}=*)$/i;

/** RFC 7617 */
const basicPattern = /^basic +([a-z0-9+/]{1,1024}={0,2})$/i;

const advice: Readonly<Record<TokenPlace, string>> = {
  basic: ', or "Basic" with the token as password',
  'dd-api-key': ', or "DD-API-KEY: <token>"',
};

/**
 * @param place where the token may be besides `Authorization: Bearer <token>`
 * @throws AppError `unauthenticated` unless there is exactly one
 */
export function bearerToken(headers: RequestHeaders, place?: TokenPlace): string {
  const keys = place === 'dd-api-key' ? headers.datadogKey : [];
  const [value, second] = [...headers.authorization, ...keys.map((key) => `Bearer ${key}`)];
  const orElse = place === undefined ? '' : advice[place];
  if (value === undefined) {
    throw unauthenticated(`cannot find a token: send "Authorization: Bearer <token>"${orElse}`);
  }
  if (second !== undefined) {
    const names = place === 'dd-api-key' ? 'headers with a token' : 'Authorization headers';
    throw unauthenticated(`cannot choose between two ${names}: send exactly one`);
  }
  const password = place === 'basic' ? basicPassword(value) : undefined;
  const token = bearerPattern.exec(value)?.[1] ?? password;
  if (token === undefined) {
    const name = keys.length > 0 ? 'DD-API-KEY' : 'Authorization';
    throw unauthenticated(`cannot read the ${name} header: send "Bearer" and one token${orElse}`);
  }
  return token;
}

function basicPassword(value: string): string | undefined {
  const [, encoded] = basicPattern.exec(value) ?? [];
  const credentials = Buffer.from(encoded ?? '', 'base64').toString();
  return bearerPattern.exec(`bearer ${credentials.slice(credentials.indexOf(':') + 1)}`)?.[1];
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
    throw unauthenticated(`cannot accept this token: it is not a valid ${type} token`);
  }
  return token;
}

/** Checks token against receiver, except for the address. @throws AppError `forbidden` */
export function checkBinding(token: TokenGrant, receiver: Receiver, kind: ReceiverKind): void {
  if (token.receiverId !== receiver.receiverId) {
    throw new AppError('forbidden', 'cannot use this token here: it belongs to another receiver');
  }
  if (!token.accountIds.includes(receiver.accountId)) {
    throw new AppError('forbidden', 'cannot use this token here: it belongs to another account');
  }
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
export function activeAccount(headers: RequestHeaders): string {
  const [value, second] = headers.activeAccount;
  if (value === undefined || second !== undefined || !uuidPattern.test(value)) {
    throw new AppError(
      'malformed',
      'cannot determine the account: send exactly one X-Active-Account header with its UUID',
      { parameter: 'X-Active-Account' },
    );
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
