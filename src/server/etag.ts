/** Answers that a client may keep: what names them, and whether a client has one already. Pure. */
import { createHash } from 'node:crypto';

/** Weak: the same however the bytes are packed. */
export function etagOf(bytes: Uint8Array): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** @param known as sent: `*`, or tags, weak or strong (RFC 9110, section 13.1.2) */
export function isKnown(known: string | undefined, etag: string): boolean {
  if (known === undefined) return false;
  const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag.slice('W/'.length));
}
