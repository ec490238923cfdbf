/** Numbers of templates in forms for people, as Prometheus' functions of these names. */
import { formatSignificant } from './sprintf.ts';

/** Four significant digits with an SI prefix. */
export function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return formatShort(value);
  const size = Math.abs(value);
  if (size >= 1) return withPrefix(value, 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']);
  const prefixes = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
  let scaled = value;
  let prefix = '';
  for (const next of prefixes) {
    if (Math.abs(scaled) >= 1) break;
    prefix = next;
    scaled *= 1000;
  }
  return formatShort(scaled) + prefix;
}

export function humanize1024(value: number): string {
  if (Math.abs(value) <= 1 || !Number.isFinite(value)) return formatShort(value);
  return withPrefix(value, 1024, ['', 'ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi']);
}

function withPrefix(value: number, base: number, prefixes: readonly string[]): string {
  let scaled = value;
  let at = 0;
  for (; Math.abs(scaled) >= base && at < prefixes.length - 1; at += 1) scaled /= base;
  return formatShort(scaled) + prefixes[at]!;
}

/** @param seconds such as 3661, which is `1h 1m 1s` */
export function humanizeDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return formatShort(seconds);
  if (seconds === 0) return `${formatShort(seconds)}s`;
  const size = Math.abs(seconds);
  if (size < 1) return `${humanize(seconds)}s`;
  const sign = seconds < 0 ? '-' : '';
  const whole = Math.trunc(size);
  const [days, hours] = [Math.trunc(whole / 86_400), Math.trunc(whole / 3600) % 24];
  const [minutes, rest] = [Math.trunc(whole / 60) % 60, whole % 60];
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${rest}s`;
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${rest}s`;
  if (minutes > 0) return `${sign}${minutes}m ${rest}s`;
  return `${sign}${formatShort(size)}s`;
}

export function humanizePercentage(value: number): string {
  return `${formatShort(value * 100)}%`;
}

/** Go's `%.4g`. */
function formatShort(value: number): string {
  return formatSignificant(value, 4);
}
