/** Probes an address: DNS, TCP, TLS and HTTP, each with a timeout of 4 s. */
import { lookup } from 'node:dns/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { parseJson, sendRequest } from '../http.ts';

export interface TlsFacts {
  /** Undefined where the certificate is trusted and names the host. */
  readonly fault: Error | undefined;
  readonly names: string;
  /** Unix ms. */
  readonly validUntilMs: number;
  readonly hasHttp2: boolean;
}

export interface Exchange {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of an authority to trust instead of the system's. */
  readonly ca: string | undefined;
}

export interface ProbeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined where it is none. */
  readonly body: unknown;
  readonly text: string;
  /** Unix ms. */
  readonly sentAtMs: number;
  readonly tookMs: number;
}

const timeoutMs = 4_000;

/** @returns the addresses of the name. @throws Error */
export async function probeName({ hostname }: URL): Promise<string[]> {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return [name];
  const found = await inTime(lookup(name, { all: true }));
  return found.map(({ address }) => address);
}

/** @returns how long it took, in ms. @throws Error */
export async function probePort(url: URL): Promise<number> {
  const startedAt = performance.now();
  const socket = connectTcp(toEndpoint(url));
  await opened(socket, 'connect');
  socket.destroy();
  return performance.now() - startedAt;
}

/** @throws Error where the port does not speak TLS */
export async function probeTls(url: URL, ca: string | undefined): Promise<TlsFacts> {
  const { host, port } = toEndpoint(url);
  const socket = connectTls({
    host,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    ca,
    ALPNProtocols: ['h2', 'http/1.1'],
    // Reports why a certificate is not trusted; no data is sent.
    rejectUnauthorized: false,
  });
  await opened(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  const facts = {
    fault: faultOf(socket),
    names: certificate.subjectaltname ?? '',
    validUntilMs: Date.parse(certificate.valid_to),
    hasHttp2: socket.alpnProtocol === 'h2',
  };
  socket.destroy();
  return facts;
}

/** @throws Error of the network, or where the certificate is not trusted */
export async function probeHttp(
  url: URL,
  { method = 'GET', headers = {}, body, ca }: Exchange,
): Promise<ProbeResponse> {
  const [sentAtMs, startedAt] = [Date.now(), performance.now()];
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await sendRequest(url, { method, headers, body, ca, agent: false, signal });
  const tookMs = performance.now() - startedAt;
  const text = await readText(response);
  const { statusCode: status = 0 } = response;
  return { status, headers: response.headers, body: parseJson(text), text, sentAtMs, tookMs };
}

function toEndpoint({ hostname, port, protocol }: URL): { host: string; port: number } {
  const standard = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? standard : Number(port) };
}

async function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  const opening = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve).once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed at once')));
  });
  try {
    await inTime(opening);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function faultOf(socket: TLSSocket): Error | undefined {
  if (socket.authorized) return undefined;
  // Typed as an Error; for a chain it is a code.
  const reason: unknown = socket.authorizationError;
  if (reason instanceof Error) return reason;
  return Object.assign(new Error(String(reason)), { code: String(reason) });
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const error = new DOMException('no response in time', 'TimeoutError');
  const timer = setTimeout(reject, timeoutMs, error);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
