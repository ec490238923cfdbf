/** HTTP requests of all commands, and the meaning of network errors. */
import {
  type Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface HttpRequest {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array | undefined;
  /** PEM of an authority to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** `false` opens a connection for this request alone. */
  readonly agent?: Agent | false;
  readonly signal: AbortSignal;
}

/** @returns the response once its head has arrived. @throws Error of the network or the signal */
export function sendRequest(
  url: URL,
  { headers, body, ...options }: HttpRequest,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    send(url, { ...options, headers: { ...headers, ...length } })
      .on('response', resolve)
      .on('error', reject)
      .end(body);
  });
}

/** @returns undefined for text that is not JSON, such as an empty body or a proxy's page. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The reason in a problem document (RFC 9457). */
export function problemText(body: unknown): string | undefined {
  const { detail, title } = (body ?? {}) as { detail?: unknown; title?: unknown };
  return [detail, title].find((text) => typeof text === 'string');
}

const maxRetryAfterSeconds = 3600;

/**
 * @param header seconds or a date (RFC 9110 §10.2.3).
 * @returns whole seconds, at most an hour; undefined where the header is absent or invalid.
 */
export function parseRetryAfter(
  header: string | undefined,
  nowMs: number = Date.now(),
): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(maxRetryAfterSeconds, Math.max(0, seconds));
}

const untrusted = 'its certificate is not trusted; give --ca-file';
const notTls = 'it does not speak TLS there';

/** Codes of Node and OpenSSL. */
const temporary: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; check that the service runs',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'it does not respond',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no network to that host',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be resolved now',
};

/** Errors that persist on a retry. */
const permanent: Readonly<Record<string, string>> = {
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names than the one in the address',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_SIGNATURE_FAILURE: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
};

/** @returns a clause about the peer, such as `nothing listens there; …`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A request that a signal aborted carries the signal's reason as its cause.
  const isTimeout = [error, error.cause].some((one) => (one as Error)?.name === 'TimeoutError');
  if (isTimeout) return 'it does not respond in time';
  const code = codeOf(error);
  return temporary[code] ?? permanent[code] ?? error.message;
}

export function isPermanent(error: Error): boolean {
  return Object.hasOwn(permanent, codeOf(error));
}

/** The first error where a name has several addresses and all failed. */
function codeOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first ? String(first.code) : '';
}
