/** The formats of `backup.json` and `SHA256SUMS` (`sha256sum -c SHA256SUMS`). Pure. */
import { z } from 'zod';

/** Version of the backup layout. A newer one is refused. */
export const archiveFormat = 1;
export const manifestName = 'backup.json';
export const sumsName = 'SHA256SUMS';
/** This folder of a backup has the layout of a data directory. */
export const contentFolder = 'data';

const manifestShape = z.object({
  format: z.number().int().positive(),
  weirVersion: z.string(),
  /** The backup has everything acknowledged before this time, RFC 3339. */
  startedAt: z.iso.datetime(),
  /** The backup has nothing received after this time, RFC 3339. */
  heldAt: z.iso.datetime(),
  /** Parts in the backup, such as `queue`. */
  holds: z.array(z.string()),
  /** Number of files without `backup.json` and `SHA256SUMS`. */
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
});

export type Manifest = z.infer<typeof manifestShape>;

export function encodeManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** @returns undefined for damaged text. */
export function parseManifest(
  text: string,
): Manifest | { readonly newerFormat: number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data: head } = manifestShape.pick({ format: true }).safeParse(value);
  if (head !== undefined && head.format > archiveFormat) return { newerFormat: head.format };
  return manifestShape.safeParse(value).data;
}

/** @param digests SHA-256 in hexadecimal by path relative to the backup, with slashes. */
export function encodeSums(digests: ReadonlyMap<string, string>): string {
  return [...digests].map(([path, digest]) => `${digest}  ${path}\n`).join('');
}

const sumLine = /^([0-9a-f]{64}) {2}(.+)$/;

/** @returns undefined when a line is damaged or its path leads out of the backup. */
export function parseSums(text: string): Map<string, string> | undefined {
  if (!text.endsWith('\n')) return undefined;
  const digests = new Map<string, string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const [, digest, path] = sumLine.exec(line) ?? [];
    if (digest === undefined || path === undefined || !isInside(path)) return undefined;
    digests.set(path, digest);
  }
  return digests;
}

/** Backups are untrusted input: refuses paths that lead out of the folder. */
function isInside(path: string): boolean {
  if (path === manifestName) return true;
  const [folder, ...rest] = path.split('/');
  return folder === contentFolder && rest.length > 0 && rest.every(isPlainName);
}

function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[\\\0]/.test(name);
}
