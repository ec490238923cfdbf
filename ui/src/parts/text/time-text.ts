/** Formats times and amounts in the selected time zone. Pure. */

export type Zone = 'local' | 'utc';

/** `2026-04-01 08:30:00.123` */
export function formatTime(iso: string, zone: Zone): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return isoLike(date, zone).replace('T', ' ');
}

/** `08:30:00.123` */
export function formatTimeOfDay(iso: string, zone: Zone): string {
  return formatTime(iso, zone).slice(11);
}

/** `3 minutes ago`, rounded down. */
export function formatAgo(iso: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(iso)) / 1000));
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? units.at(-1)!;
  if (seconds < 5) return 'just now';
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

const units: readonly (readonly [string, number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** `1,234,567` */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1.5 MB`, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let at = 0;
  while (value >= 1000 && at < names.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${names[at] ?? ''}`;
}

function isoLike(date: Date, zone: Zone): string {
  if (zone === 'utc') return date.toISOString().slice(0, 23);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 23);
}
