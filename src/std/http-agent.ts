/** HTTP agents that notice a dead or silent server by keep-alive probes and a handshake timeout. */
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

const connectMs = 2_000;

/** TCP keep-alive probes find a dead peer 10 s after this delay. */
const agentOptions: AgentOptions = { keepAlive: true, keepAliveMsecs: 10_000 };

export interface AgentTarget {
  readonly url: string | undefined;
  /** Takes precedence over the URL. */
  readonly socketPath: string | undefined;
  /** Authorities in PEM; undefined = those of Node. */
  readonly ca?: readonly string[] | undefined;
}

/** Connections over the Unix socket, or over TCP with a timeout of the handshake. */
export function openAgent({ url = '', socketPath, ca }: AgentTarget): HttpAgent {
  // Node's types lack `socketPath`.
  if (socketPath !== undefined) return new HttpAgent({ ...agentOptions, socketPath } as object);
  const isTls = url.startsWith('https:');
  const agent = isTls
    ? new HttpsAgent({ ...agentOptions, ...(ca !== undefined && { ca: [...ca] }) })
    : new HttpAgent(agentOptions);
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    const socket = connect(...args);
    if (socket) limitHandshake(socket, isTls ? 'secureConnect' : 'connect');
    return socket;
  };
  return agent;
}

/** Fails as the system does when a host drops packets; nothing of a request is sent before. */
function limitHandshake(socket: Duplex, connected: 'connect' | 'secureConnect'): void {
  const error = new Error(`no connection after ${connectMs} ms`);
  Object.assign(error, { code: 'ETIMEDOUT', syscall: 'connect' });
  const timer = setTimeout(() => socket.destroy(error), connectMs);
  const stop = () => clearTimeout(timer);
  socket.once(connected, stop).once('close', stop);
}
