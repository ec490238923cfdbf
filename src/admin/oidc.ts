/**
 * Single sign-on: authorization code flow with PKCE against an OpenID Connect provider
 * (https://openid.net/specs/openid-connect-core-1_0.html). A person gets a session with a token,
 * whose secret is not kept and which is deleted with the session.
 */
import * as client from 'openid-client';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import type { Directory } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { messageOf } from '../std/error-text.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { type Claims, findGrant, type OidcGrant } from './oidc-grants.ts';
import type { Sessions } from './sessions.ts';

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Empty = a public client. */
  readonly clientSecret: string;
  readonly scopes: string;
  /** Name of the provider on the sign-in page. */
  readonly label: string;
  readonly grants: readonly OidcGrant[];
}

export interface OidcParts {
  readonly directory: Pick<Directory, 'createToken'>;
  readonly sessions: Sessions;
  readonly telemetry: Pick<DirectoryEvents, 'adminChanged' | 'singleSignOnFailed'>;
}

/** What the browser keeps while the person is at the provider. */
export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Why a person is not signed in; the explorer has a text for each. */
export type SignInFailure = 'declined' | 'expired' | 'not-granted' | 'unavailable';

interface SignedIn {
  readonly sessionId: string;
}

export type Oidc = ReturnType<typeof createOidc>;

/** Metadata of the provider may change. */
const rediscoverMs = 3_600_000;
const timeoutSeconds = 10;
const maxNameLength = 100;

export function createOidc(options: OidcOptions, { directory, sessions, telemetry }: OidcParts) {
  const discover = createDiscovery(options);

  /** @returns the failure, which is logged with its reason. */
  const failed = (failure: SignInFailure, reason: unknown): SignInFailure => {
    telemetry.singleSignOnFailed(failure, reasonOf(reason));
    return failure;
  };

  const signIn = async (claims: client.IDToken): Promise<SignedIn | SignInFailure> => {
    const owner = `${claims.iss} ${claims.sub}`;
    const grant = findGrant(options.grants, claims);
    if (grant === undefined) return failed('not-granted', `no rule of oidc.grants for ${owner}`);
    const { accountIds, allAccounts, scopes } = grant;
    const digest = digestSecret(mintSecret('access'));
    try {
      const token = await directory.createToken({
        type: 'access',
        name: `${nameOf(claims)} (${options.label})`.slice(0, maxNameLength),
        accountIds,
        allAccounts,
        receiverId: null,
        scopes,
        expiresAt: new Date(Date.now() + sessions.maxMs).toISOString(),
        digest,
      });
      const { tokenId } = token;
      telemetry.adminChanged({
        operation: 'singleSignOn',
        tokenId,
        accountId: undefined,
        targetId: owner,
      });
    } catch (error) {
      // An account of the rule does not exist.
      if (error instanceof AppError && error.code === 'not_found') {
        return failed('not-granted', error);
      }
      throw error;
    }
    return { sessionId: await sessions.begin(digest, owner) };
  };

  return {
    label: options.label,
    /** @returns where the person signs in, or why that is not possible. */
    async begin(
      redirectUri: string,
    ): Promise<{ readonly url: URL; readonly attempt: SignInAttempt } | SignInFailure> {
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      try {
        const url = client.buildAuthorizationUrl(await discover(), {
          redirect_uri: redirectUri,
          scope: options.scopes,
          code_challenge: await client.calculatePKCECodeChallenge(attempt.codeVerifier),
          code_challenge_method: 'S256',
          state: attempt.state,
          nonce: attempt.nonce,
        });
        return { url, attempt };
      } catch (error) {
        return failed('unavailable', error);
      }
    },
    /**
     * @param callback URL to which the provider redirected
     * @param attempt undefined = the browser has none
     * @throws AppError `unavailable`
     */
    async finish(
      callback: URL,
      attempt: SignInAttempt | undefined,
    ): Promise<SignedIn | SignInFailure> {
      if (attempt === undefined || callback.searchParams.get('state') !== attempt.state) {
        return failed('expired', 'the browser did not begin this sign-in, or too long ago');
      }
      let claims: client.IDToken;
      try {
        claims = await identify(await discover(), callback, attempt);
      } catch (error) {
        return failed(failureOf(error), error);
      }
      return signIn(claims);
    },
  };
}

/** Metadata of the provider, read again from time to time. */
function createDiscovery(options: OidcOptions): () => Promise<client.Configuration> {
  let known: { readonly config: Promise<client.Configuration>; readonly atMs: number } | undefined;

  /** One request at a time, however many people wait. */
  return (): Promise<client.Configuration> => {
    if (known !== undefined && performance.now() - known.atMs < rediscoverMs) return known.config;
    const { issuer, clientId, clientSecret } = options;
    const authentication = clientSecret === '' ? client.None() : undefined;
    const secret = clientSecret === '' ? undefined : clientSecret;
    const config = client.discovery(new URL(issuer), clientId, secret, authentication, {
      timeout: timeoutSeconds,
    });
    known = { config, atMs: performance.now() };
    config.catch(() => (known = undefined));
    return config;
  };
}

async function identify(
  config: client.Configuration,
  callback: URL,
  attempt: SignInAttempt,
): Promise<client.IDToken> {
  const tokens = await client.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier: attempt.codeVerifier,
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims() as client.IDToken;
  if (config.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
  return { ...more, ...claims };
}

function failureOf(error: unknown): SignInFailure {
  if (error instanceof client.AuthorizationResponseError) return 'declined';
  // The code has expired, was used or is not of this attempt.
  const isUsed = error instanceof client.ResponseBodyError && error.error === 'invalid_grant';
  return isUsed ? 'expired' : 'unavailable';
}

/** Messages only: other properties of these errors hold codes and tokens. */
function reasonOf(thrown: unknown): string {
  const isAnswer =
    thrown instanceof client.ResponseBodyError ||
    thrown instanceof client.AuthorizationResponseError;
  const answer = isAnswer ? [thrown.error, thrown.error_description ?? ''] : [];
  const cause = thrown instanceof Error && thrown.cause instanceof Error && reasonOf(thrown.cause);
  return [messageOf(thrown), ...answer, cause].filter(Boolean).join(': ');
}

function nameOf(claims: Claims): string {
  const names = [claims['email'], claims['preferred_username'], claims['name'], claims['sub']];
  return names.find((name): name is string => typeof name === 'string') ?? '';
}
