/**
 * The explorer's files on the stream port: pages and what they load. It knows files and headers,
 * not what the pages do; they are a client of the documented API like any other.
 */
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import { etagOf, isNotModified } from './open-routes.ts';

/** Where the pages live; each is the same file, which looks at its own address. */
const pagePaths = [
  '/',
  '/explore/logs',
  '/explore/metrics',
  '/receivers',
  '/receivers/:receiverId',
  '/streams',
  '/tokens',
  '/accounts',
] as const;

const assetPath = '/assets/:name';
export const explorerPaths: readonly string[] = [...pagePaths, assetPath];

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * What a page may do: load from this address and nothing else, talk to this address and nothing
 * else, be framed by nobody. Text of a log that looks like a page stays text.
 */
const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

interface StaticFile {
  readonly mediaType: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** Packed when the explorer was built; absent where packing gains nothing. */
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
}

/** @param directory of the built explorer; one that is not there leaves a page that says so */
export function mountExplorer(app: FastifyInstance, directory: string): void {
  const files = readFiles(directory);
  for (const path of pagePaths) {
    mount(app, path, (_request, reply) => {
      reply.headers({ ...pageHeaders, 'cache-control': 'no-cache', vary: 'Accept-Encoding' });
      return files.get('index.html') ?? notBuilt();
    });
  }
  mount(app, assetPath, (request, reply) => {
    const file = files.get(`assets/${(request.params as { name: string }).name}`);
    if (file === undefined) throw new AppError('not_found', 'cannot find this file');
    // The name has a hash of the content in it.
    const forever = 'public, max-age=31536000, immutable';
    reply.headers({ ...pageHeaders, 'cache-control': forever, vary: 'Accept-Encoding' });
    return file;
  });
}

type FindFile = (request: FastifyRequest, reply: FastifyReply) => StaticFile;

function mount(app: FastifyInstance, url: string, find: FindFile): void {
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: (request, reply) => {
      send(request, reply, find(request, reply));
    },
  });
}

function send(request: FastifyRequest, reply: FastifyReply, file: StaticFile): void {
  reply.header('content-type', file.mediaType);
  if (isNotModified(request, reply, file.etag)) {
    reply.code(304).send();
    return;
  }
  const accepted = request.headers['accept-encoding'] ?? '';
  if (file.brotli !== undefined && accepts(accepted, 'br')) {
    reply.header('content-encoding', 'br').send(file.brotli);
  } else if (file.gzip !== undefined && accepts(accepted, 'gzip')) {
    reply.header('content-encoding', 'gzip').send(file.gzip);
  } else {
    reply.send(file.bytes);
  }
}

/** @param accepted as sent; a coding of weight 0 is refused (RFC 9110, section 12.5.3) */
function accepts(accepted: string, coding: string): boolean {
  return accepted.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function readFiles(directory: string): ReadonlyMap<string, StaticFile> {
  const paths = new Set(globSync('{*,assets/*}', { cwd: directory }));
  const read = (path: string) => readFileSync(join(directory, path));
  return new Map(
    [...paths].flatMap((path) => {
      const mediaType = mediaTypes[extname(path)];
      if (mediaType === undefined) return [];
      const bytes = read(path);
      const gzip = paths.has(`${path}.gz`) ? read(`${path}.gz`) : undefined;
      const brotli = paths.has(`${path}.br`) ? read(`${path}.br`) : undefined;
      return [[path, { mediaType, etag: etagOf(bytes), bytes, gzip, brotli }]];
    }),
  );
}

function notBuilt(): never {
  throw new AppError(
    'unavailable',
    'cannot show the explorer: it is not built; start Weir with npm start',
  );
}
