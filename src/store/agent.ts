/**
 * Connections to ClickHouse: over a Unix socket, or over TCP with and without TLS, where a host
 * that swallows packets is given up after a moment. It knows nothing of what they carry.
 */
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface AgentTarget {
  readonly url: string | undefined;
  /** In place of the URL's host. */
  readonly socketPath: string | undefined;
  /** Authorities in PEM besides the usual ones; undefined = those alone. */
  readonly ca?: readonly string[] | undefined;
  /** For a connection to be made, TLS included. */
  readonly connectMs: number;
}

const settings: AgentOptions = {
  keepAlive: true,
  // A peer that is gone without a word is found out after so long, and ten seconds more.
  keepAliveMsecs: 10_000,
};

export function openAgent({ url = '', socketPath, ca, connectMs }: AgentTarget): HttpAgent {
  if (socketPath !== undefined) return new SocketAgent(socketPath);
  if (!url.startsWith('https:')) return new PlainAgent(connectMs);
  return new TlsAgent(connectMs, ca);
}

/** HTTP over a Unix socket, whatever host the URL names. */
class SocketAgent extends HttpAgent {
  readonly #path: string;

  constructor(path: string) {
    super(settings);
    this.#path = path;
  }

  override createConnection(): Socket {
    return connect(this.#path);
  }
}

type ConnectionArguments = Parameters<HttpAgent['createConnection']>;

class PlainAgent extends HttpAgent {
  readonly #connectMs: number;

  constructor(connectMs: number) {
    super(settings);
    this.#connectMs = connectMs;
  }

  override createConnection(...args: ConnectionArguments): Duplex | null | undefined {
    return limited(super.createConnection(...args), 'connect', this.#connectMs);
  }
}

class TlsAgent extends HttpsAgent {
  readonly #connectMs: number;

  constructor(connectMs: number, ca: readonly string[] | undefined) {
    super({ ...settings, ...(ca === undefined ? {} : { ca: [...ca] }) });
    this.#connectMs = connectMs;
  }

  override createConnection(...args: ConnectionArguments): Duplex | null | undefined {
    return limited(super.createConnection(...args), 'secureConnect', this.#connectMs);
  }
}

/** Until `made`, nothing of a request has been sent. */
function limited(
  socket: Duplex | null | undefined,
  made: 'connect' | 'secureConnect',
  millis: number,
): Duplex | null | undefined {
  const giveUp = () => socket?.destroy(connectTimeout(millis));
  const timer = setTimeout(giveUp, millis);
  const stop = () => clearTimeout(timer);
  socket?.once(made, stop).once('close', stop);
  return socket;
}

/** As the system would say it, had it been asked to wait no longer. */
function connectTimeout(millis: number): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no connection after ${millis} ms`);
  error.code = 'ETIMEDOUT';
  error.syscall = 'connect';
  return error;
}
