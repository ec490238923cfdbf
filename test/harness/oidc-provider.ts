/**
 * An OpenID Connect provider (oidc-provider) on 127.0.0.1: for browsers another site than Weir on
 * localhost. It answers 503 until it knows the address of Weir.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Provider from 'oidc-provider';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import type { ServiceOptions } from './service.ts';

type Claims = Record<string, unknown>;

/** Signs in without a form. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly groups: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  readonly clientSecret: string;
  /** PEM of its authority. */
  readonly ca: string;
  /** Of a service that uses it. */
  readonly serviceOptions: Required<Pick<ServiceOptions, 'flags' | 'env'>>;
  /** Undefined declines. */
  person: Person | undefined;
  /** Changes the claims of the next ID tokens. */
  tamper: (claims: Claims) => Claims;
  serve(streamUrl: string): void;
  close(): void;
}

/** @param grants `oidc.grants` of the service */
export async function openProvider(grants: readonly string[]): Promise<TestProvider> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-provider-'));
  const tls = await ensureLocalCertificate(folder, new Date());
  let handle = (_request: IncomingMessage, response: ServerResponse): unknown =>
    response.writeHead(503).end();
  const server = createServer(tls, (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const caFile = join(folder, 'ca.pem');
  const clientSecret = 'secret-of-the-client';
  const test: TestProvider = {
    issuer,
    clientSecret,
    ca: readFileSync(caFile, 'utf8'),
    serviceOptions: {
      flags: [
        `--oidc-issuer=${issuer}`,
        '--oidc-client-id=weir',
        '--oidc-label=Example',
        `--oidc-grants=${grants.join(',')}`,
      ],
      env: { NODE_EXTRA_CA_CERTS: caFile, WEIR_OIDC_CLIENT_SECRET: clientSecret },
    },
    person: undefined,
    tamper: (claims) => claims,
    serve: (streamUrl) => {
      handle = createHandler(test, `${streamUrl}/api/v1/session/oidc/callback`);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true });
    },
  };
  return test;
}

function createHandler(test: TestProvider, redirectUri: string) {
  const people = new Map<string, Person>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(test.issuer, {
    clients: [
      { client_id: 'weir', client_secret: test.clientSecret, redirect_uris: [redirectUri] },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['key of the cookies'] },
    claims: { openid: ['sub'], email: ['email'], profile: ['groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ ...people.get(id), sub: id }),
    }),
    async loadExistingGrant({ oidc: { client, session, provider: own } }) {
      const grant = new own.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const body = context.body as { id_token?: string } | undefined;
    if (context.path !== '/token' || body?.id_token === undefined) return;
    const [head, claims = '', signature] = body.id_token.split('.');
    const parsed = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims;
    const changed = Buffer.from(JSON.stringify(test.tamper(parsed))).toString('base64url');
    body.id_token = [head, changed, signature].join('.');
  });
  const answer = provider.callback();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.startsWith('/interaction/') !== true) return answer(request, response);
    const { person } = test;
    if (person !== undefined) people.set(person.id, person);
    const result = person ? { login: { accountId: person.id } } : { error: 'access_denied' };
    await provider.interactionFinished(request, response, result);
  };
}
