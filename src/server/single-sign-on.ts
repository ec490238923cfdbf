/** The redirects of single sign-on: to the OpenID Connect provider, and back with a session. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Oidc, SignInFailure } from '../admin/oidc.ts';
import { readCookie, type SessionParts, toCookie } from './sessions.ts';

interface SingleSignOnParts extends Pick<SessionParts, 'publicUrl' | 'sessions'> {
  readonly oidc: Oidc;
}

const startPath = '/api/v1/session/oidc';
const callbackPath = `${startPath}/callback`;
const attemptCookie = '__Host-weir-oidc';
/** Lax: the provider redirects back from another site. */
const attemptAttributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const attemptSeconds = 600;

/** A longer address does not fit into a cookie. */
const maxOpenedLength = 2000;

const attemptShape = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** Address of the page that the person opened. */
  opened: z.string(),
});

type KeptAttempt = z.output<typeof attemptShape>;

export function mountSingleSignOn(app: FastifyInstance, parts: SingleSignOnParts): void {
  const { oidc, publicUrl, sessions } = parts;
  const callbackUrl = () => new URL(callbackPath, publicUrl());
  /** Another origin is never an answer: the address may be of a link that anyone has made. */
  const toOpened = (address: string | null | undefined): URL => {
    const start = new URL('/', publicUrl());
    const url = URL.parse(address ?? '', start);
    if (url?.origin !== start.origin || url.href.length > maxOpenedLength) return start;
    return url;
  };
  const redirect = (reply: FastifyReply, url: URL, outcome: string) => {
    url.hash = outcome;
    return reply.redirect(url.href, 303);
  };
  app.get(startPath, async (request, reply) => {
    const asked = URL.parse(request.url, callbackUrl())?.searchParams.get('opened');
    const opened = toOpened(asked);
    const begun = await oidc.begin(callbackUrl().href);
    if (typeof begun === 'string') return redirect(reply, opened, failureHash(begun));
    reply.header('set-cookie', toAttemptCookie({ ...begun.attempt, opened: opened.href }));
    return reply.redirect(begun.url.href, 303);
  });
  app.get(callbackPath, async (request, reply) => {
    const callback = callbackUrl();
    callback.search = URL.parse(request.url, callback)?.search ?? '';
    const attempt = toAttempt(readCookie(request, attemptCookie));
    const opened = toOpened(attempt?.opened);
    const finished = await oidc.finish(callback, attempt);
    reply.header('set-cookie', `${attemptCookie}=; Max-Age=0; ${attemptAttributes}`);
    if (typeof finished === 'string') return redirect(reply, opened, failureHash(finished));
    reply.header('set-cookie', toCookie(finished.sessionId, sessions.maxMs / 1000));
    return redirect(reply, opened, 'sign-in-done');
  });
}

/** The page has a text for each failure: one in the URL could be written by anyone. */
function failureHash(failure: SignInFailure): string {
  return `sign-in-failed=${failure}`;
}

function toAttemptCookie(attempt: KeptAttempt): string {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  return `${attemptCookie}=${value}; Max-Age=${attemptSeconds}; ${attemptAttributes}`;
}

function toAttempt(cookie: string | undefined): KeptAttempt | undefined {
  try {
    const text = Buffer.from(cookie ?? '', 'base64url').toString();
    return attemptShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
