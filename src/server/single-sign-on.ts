/** The redirects of single sign-on: to the OpenID Connect provider, and back with a session. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Oidc, SignInAttempt, SignInFailure } from '../admin/oidc.ts';
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

const attemptShape = z.object({ state: z.string(), nonce: z.string(), codeVerifier: z.string() });

export function mountSingleSignOn(app: FastifyInstance, parts: SingleSignOnParts): void {
  const { oidc, publicUrl, sessions } = parts;
  const callbackUrl = () => new URL(callbackPath, publicUrl());
  app.get(startPath, async (_request, reply) => {
    const begun = await oidc.begin(callbackUrl().href);
    if (typeof begun === 'string') return redirectToFailure(reply, begun);
    reply.header('set-cookie', toAttemptCookie(begun.attempt));
    return reply.redirect(begun.url.href, 303);
  });
  app.get(callbackPath, async (request, reply) => {
    const callback = callbackUrl();
    callback.search = URL.parse(request.url, callback)?.search ?? '';
    const finished = await oidc.finish(callback, toAttempt(readCookie(request, attemptCookie)));
    reply.header('set-cookie', `${attemptCookie}=; Max-Age=0; ${attemptAttributes}`);
    if (typeof finished === 'string') return redirectToFailure(reply, finished);
    reply.header('set-cookie', toCookie(finished.sessionId, sessions.maxMs / 1000));
    return reply.redirect('/', 303);
  });
}

/** The page has a text for each failure: one in the URL could be written by anyone. */
function redirectToFailure(reply: FastifyReply, failure: SignInFailure): FastifyReply {
  return reply.redirect(`/#sign-in-failed=${failure}`, 303);
}

function toAttemptCookie(attempt: SignInAttempt): string {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  return `${attemptCookie}=${value}; Max-Age=${attemptSeconds}; ${attemptAttributes}`;
}

function toAttempt(cookie: string | undefined): SignInAttempt | undefined {
  try {
    const text = Buffer.from(cookie ?? '', 'base64url').toString();
    return attemptShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
