/** Formats times and amounts in the selected time zone. Pure. */

export type Zone = 'local' | 'utc';

/** `2026-04-01 08:30:00.123` */
export function formatTime(iso: string, zone: Zone): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatMs(ms, zone);
}

/** `2026-04-01 08:30:00.123` */
export function formatMs(ms: number, zone: Zone): string {
  return new Date(ms + offsetMs(ms, zone)).toISOString().slice(0, 23).replace('T', ' ');
}

/** What to add to Unix ms for the time on a clock. */
export function offsetMs(ms: number, zone: Zone): number {
  return zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;
}

/** `2026-04-01 08:30:00 – 08:31:00`: the end is abbreviated. */
export function formatSpan(fromMs: number, untilMs: number, zone: Zone): string {
  const hasFractions = fromMs % 1000 !== 0 || untilMs % 1000 !== 0;
  const [from, until] = [fromMs, untilMs].map((ms) =>
    formatMs(ms, zone).slice(0, hasFractions ? 23 : 19),
  ) as [string, string];
  return `${from} – ${from.slice(0, 10) === until.slice(0, 10) ? until.slice(11) : until}`;
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

/** `1 log`, `1,234 logs` */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
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
