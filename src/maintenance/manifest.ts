/**
 * What a backup says of itself: `backup.json`, for Weir, and `SHA256SUMS`, for anyone
 * (`sha256sum -c SHA256SUMS`). Pure; it knows nothing of what the files mean.
 */
import { z } from 'zod';

/** Of a backup's layout. A newer one is refused. */
export const archiveFormat = 1;
export const manifestName = 'backup.json';
export const sumsName = 'SHA256SUMS';
/** The folder in a backup that is laid out as a data directory. */
export const contentFolder = 'data';

const manifestShape = z.object({
  format: z.number().int().positive(),
  /** Of the Weir that made it. */
  weirVersion: z.string(),
  /** All that was acknowledged before this is in it; RFC 3339. */
  startedAt: z.iso.datetime(),
  /** Nothing that was received after this is in it; RFC 3339. */
  heldAt: z.iso.datetime(),
  /** Parts of the service that are in it, such as `queue`. */
  holds: z.array(z.string()),
  /** Of its content, without this file. */
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
});

export type Manifest = z.infer<typeof manifestShape>;

export function encodeManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** @returns undefined where the text is no manifest of a format that is known here or newer. */
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

/** @param digests SHA-256 in hexadecimal by path from the backup's folder on, with slashes. */
export function encodeSums(digests: ReadonlyMap<string, string>): string {
  return [...digests].map(([path, digest]) => `${digest}  ${path}\n`).join('');
}

const sumLine = /^([0-9a-f]{64}) {2}(.+)$/;

/** @returns undefined where a line is damaged, or names what lies outside of the backup. */
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

/** A backup may have been through many hands. */
function isInside(path: string): boolean {
  if (path === manifestName) return true;
  const [folder, ...rest] = path.split('/');
  return folder === contentFolder && rest.length > 0 && rest.every(isPlainName);
}

function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[\\\0]/.test(name);
}
