/** Serves the built explorer on the stream port, from memory. Its pages use the public API. */
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import { preferredCoding } from '../std/content-coding.ts';
import { etagOf, isNotModified } from './open-routes.ts';

/** Each page is the same file, which routes by its URL. */
const pagePaths = [
  '/',
  '/explore/logs',
  '/explore/traces/:traceId',
  '/explore/metrics',
  '/alerts',
  '/alerts/edit',
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

/** Pages load from and connect to this origin only, and markup in a log is never executed. */
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

/** In order of preference. The build stores a compressed file only if it is smaller. */
const codings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

interface StaticFile {
  readonly mediaType: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly compressed: readonly { readonly coding: string; readonly bytes: Buffer }[];
}

/** Paths of the API and of files: for programs, also where a browser asks. */
const otherPaths = /^\/(?:api|assets)(?:\/|$)/;

/** @param directory of the built explorer; if it is missing, pages answer `unavailable`. */
export function createExplorer(directory: string) {
  const files = readFiles(directory);
  const send = (request: FastifyRequest, reply: FastifyReply, file: StaticFile) => {
    reply.headers({ ...pageHeaders, vary: 'Accept-Encoding' });
    return select(request, reply, file);
  };
  const mountFile = (app: FastifyInstance, url: string, { cacheControl, find }: Source) =>
    app.route<{ Params: { name?: string } }>({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        const file = find(request.params.name ?? '');
        reply.header('cache-control', cacheControl);
        return send(request, reply, file);
      },
    });
  const page: Source = {
    cacheControl: 'no-cache',
    find: () => files.get('index.html') ?? notBuilt(),
  };
  // An asset's name contains a hash of its content.
  const asset: Source = {
    cacheControl: 'public, max-age=31536000, immutable',
    find(name) {
      const file = files.get(`assets/${name}`);
      if (file === undefined) throw new AppError('not_found', 'cannot find this file');
      return file;
    },
  };
  return {
    mount(app: FastifyInstance): void {
      for (const path of pagePaths) mountFile(app, path, page);
      mountFile(app, assetPath, asset);
    },
    /** @returns the explorer's page for a browser at an unknown path, else undefined */
    answerUnknown(request: FastifyRequest, reply: FastifyReply): Buffer | undefined {
      const { method, url, headers } = request;
      const isRead = method === 'GET' || method === 'HEAD';
      if (!isRead || otherPaths.test(url) || !headers.accept?.includes('text/html')) return;
      const file = files.get('index.html');
      return file && send(request, reply.code(404), file);
    },
  };
}

interface Source {
  readonly cacheControl: string;
  /** @throws AppError if there is none */
  readonly find: (name: string) => StaticFile;
}

/** @returns undefined if the client has the file already. */
function select(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, etag, bytes, compressed }: StaticFile,
): Buffer | undefined {
  reply.header('content-type', mediaType);
  if (isNotModified(request.headers, reply, etag)) {
    reply.code(304);
    return undefined;
  }
  const accepted = request.headers['accept-encoding'] ?? '';
  const offered = compressed.map(({ coding }) => coding);
  const { coding } = preferredCoding(accepted, offered);
  const chosen = compressed.find((file) => file.coding === coding);
  if (chosen === undefined) return bytes;
  reply.header('content-encoding', chosen.coding);
  return chosen.bytes;
}

function readFiles(directory: string): ReadonlyMap<string, StaticFile> {
  const paths = new Set(globSync('{*,assets/*}', { cwd: directory }));
  const read = (path: string) => readFileSync(join(directory, path));
  const files = new Map<string, StaticFile>();
  for (const path of paths) {
    const mediaType = mediaTypes[extname(path)];
    if (mediaType === undefined) continue;
    const bytes = read(path);
    const compressed = codings
      .filter(({ suffix }) => paths.has(path + suffix))
      .map(({ name, suffix }) => ({ coding: name, bytes: read(path + suffix) }));
    files.set(path, { mediaType, etag: etagOf(bytes), bytes, compressed });
  }
  return files;
}

function notBuilt(): never {
  throw new AppError(
    'unavailable',
    'cannot show the explorer: it is not built; start Weir with npm start',
  );
}
