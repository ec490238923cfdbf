/** One colour per service, the same on every page and in every session. Pure. */

const colors = 10;

/** Any CSS colour; a service without a name has a neutral one. */
export function serviceColor(service: string): string {
  if (service === '') return 'var(--severity-none)';
  // FNV-1a spreads names that differ in one letter.
  let hash = 0x811c9dc5;
  for (let at = 0; at < service.length; at += 1) {
    hash = Math.imul(hash ^ service.charCodeAt(at), 0x01000193) >>> 0;
  }
  return `var(--line-${(((hash ^ (hash >>> 15)) >>> 0) % colors) + 1})`;
}
