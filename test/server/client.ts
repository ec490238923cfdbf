/** Clients for tests: HTTP/1.1 and HTTP/2 with repeated headers, and raw bytes over TLS. */
import http2 from 'node:http2';
import https from 'node:https';
import { connect, type TLSSocket } from 'node:tls';

export type HeaderList = readonly (readonly [string, string])[];

export interface Target {
  readonly port: number;
  readonly ca: string;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: HeaderList;
  /** Undefined = headers only, with the stream left open. */
  readonly body: string | Buffer | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** Whether the server sent 100 Continue. */
  readonly continued: boolean;
}

export type Send = (target: Target, sent: Sent) => Promise<Received>;

/** Passes headers as a flat list, since Node's client rejects some repeated ones. */
export const sendHttp1: Send = async ({ port, ca }, { method, path, headers, body }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  const isFramed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const list = ['Host', 'localhost', ...headers.flat()];
  if (!isFramed && length !== undefined) list.push('Content-Length', String(length));
  const request = https.request({
    host: '127.0.0.1',
    servername: 'localhost',
    port,
    ca,
    method,
    path,
    headers: list as never,
    agent: false,
  });
  let continued = false;
  request.on('continue', () => {
    continued = true;
    request.end(body);
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: bytes.toString(),
        bytes,
        continued,
      });
      request.destroy();
    });
  });
  const waits = headers.some(([name]) => name.toLowerCase() === 'expect');
  if (waits || body === undefined) request.flushHeaders();
  else request.end(body);
  return promise;
};

export const sendHttp2: Send = async ({ port, ca }, { method, path, headers, body }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const session = http2.connect(`https://localhost:${port}`, {
    ca,
    lookup: (_host, options, done) =>
      options.all
        ? (done as unknown as (e: null, a: object[]) => void)(null, [
            { address: '127.0.0.1', family: 4 },
          ])
        : done(null, '127.0.0.1', 4),
    strictSingleValueFields: false,
  } as http2.SecureClientSessionOptions);
  session.on('error', reject);
  const fields: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    fields[name.toLowerCase()] = [...(fields[name.toLowerCase()] ?? []), value];
  }
  const waits = fields['expect'] !== undefined;
  if (body !== undefined && body.length > 0) fields['content-length'] ??= [String(body.length)];
  const stream = session.request(
    { ':method': method, ':path': path, ...fields },
    { endStream: body !== undefined && body.length === 0 },
  );
  let status = 0;
  let received: Received['headers'] = {};
  let continued = false;
  stream.on('continue', () => {
    continued = true;
    stream.end(body);
  });
  stream.on('error', reject);
  stream.on('response', (answer) => {
    status = Number(answer[':status']);
    received = answer;
  });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    const bytes = Buffer.concat(chunks);
    resolve({ status, headers: received, body: bytes.toString(), bytes, continued });
    session.destroy();
  });
  if (!waits && body !== undefined && body.length > 0) stream.end(body);
  return promise;
};

export const transports: Readonly<Record<'HTTP/1.1' | 'HTTP/2', Send>> = {
  'HTTP/1.1': sendHttp1,
  'HTTP/2': sendHttp2,
};

/** Writes bytes over TLS and resolves with the response once the server has closed. */
export function sendRaw({ port, ca }: Target, text: string | Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connectRaw({ port, ca }, () => socket.write(text));
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => resolve(received));
  return promise;
}

export function connectRaw(target: Target, ready: () => void): TLSSocket {
  return connect(connectOptions(target), ready);
}

/**
 * Sends half a body over HTTP/2, then RST_STREAM with this code. Writes the frames itself (RFC 9113
 * §4.1), since Node's client ends the body before it resets. Resolves after a PING round trip.
 */
export async function sendHttp2AndReset(target: Target, path: string, code: number): Promise<void> {
  const fields = [
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
    ['authorization', 'Bearer wri_good'],
    ['content-type', 'application/json'],
  ] as const;
  // Literals that are neither indexed nor compressed (RFC 7541 §6.2.2).
  const block = fields.flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  const reset = Buffer.alloc(4);
  reset.writeUInt32BE(code);
  const socket = connect({ ...connectOptions(target), ALPNProtocols: ['h2'] });
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(4, 0, 0, Buffer.alloc(0)));
  socket.write(frame(1, 4, 1, Buffer.concat(block)));
  socket.write(frame(0, 0, 1, Buffer.from('half an event')));
  const pong = async () => {
    socket.write(frame(6, 0, 0, Buffer.from('12345678')));
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      if (String(chunk).includes('12345678')) return;
    }
  };
  await pong();
  socket.write(frame(3, 0, 1, reset));
  await pong();
  socket.destroy();
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function connectOptions({ port, ca }: Target) {
  return { host: '127.0.0.1', servername: 'localhost', port, ca };
}
