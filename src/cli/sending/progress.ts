/** The progress line on standard error. */
import { stripVTControlCharacters } from 'node:util';
import { escapeControls, type Terminal } from '../terminal.ts';

export interface ProgressOptions {
  readonly text: () => string;
  /** Called at each interval, shown or not. */
  readonly tick: () => void;
  readonly isShown: boolean;
}

export interface SendProgress {
  readonly accepted: number;
  readonly rejected: number;
  readonly retries: number;
  readonly elapsedMs: number;
  /** Why a request is being retried. */
  readonly trouble: string | undefined;
}

export interface FileProgress extends SendProgress {
  readonly readBytes: number;
  readonly totalBytes: number;
}

const barWidth = 20;
const intervalMs = 200;
const eraseLine = '\r\u001b[K';

/** Draws the line until it is closed. */
export function openProgressLine(terminal: Terminal, { text, tick, isShown }: ProgressOptions) {
  const { writeError } = terminal;
  const draw = () => {
    tick();
    if (!isShown) return;
    // A line that wraps could not be erased.
    const line = escapeControls(stripVTControlCharacters(text())).slice(0, terminal.columns - 1);
    writeError(`${eraseLine}${line}`);
  };
  const timer = setInterval(draw, intervalMs);
  return {
    /** Prints a sentence above the line. */
    note: (sentence: string) =>
      writeError(`${isShown ? eraseLine : ''}${escapeControls(sentence)}\n`),
    /** Stops the timer and erases the line. */
    close(): void {
      clearInterval(timer);
      if (isShown) writeError(eraseLine);
    },
  };
}

/** `12,345 sent · 3,210/s · 2 retries` */
export function toSendLine(progress: SendProgress): string {
  const { accepted, rejected, retries, elapsedMs, trouble } = progress;
  return [
    `${toCount(accepted)} sent`,
    ...(rejected > 0 ? [`${toCount(rejected)} rejected`] : []),
    `${toCount(toRate(accepted, elapsedMs))}/s`,
    ...toRetries(retries),
    ...(trouble === undefined ? [] : [trouble]),
  ].join(' · ');
}

/** `[######··············] 31 % · 310 of 1,000 MB · 12,345 sent · 3,210/s · 0:42 left` */
export function toFileLine(progress: FileProgress): string {
  const { readBytes, totalBytes, elapsedMs } = progress;
  const share = totalBytes === 0 ? 1 : Math.min(1, readBytes / totalBytes);
  const full = Math.round(share * barWidth);
  const bar = '#'.repeat(full) + '·'.repeat(barWidth - full);
  const leftMs = share > 0 ? (elapsedMs / share) * (1 - share) : undefined;
  return [
    `[${bar}] ${Math.floor(share * 100)} %`,
    `${toSize(readBytes)} of ${toSize(totalBytes)}`,
    toSendLine(progress),
    ...(leftMs === undefined ? [] : [`${toClock(leftMs)} left`]),
  ].join(' · ');
}

/** `12,345` in any locale. */
export function toCount(value: number): string {
  return String(Math.floor(value)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1,204 lines` */
export function toLineCount(value: number): string {
  return `${toCount(value)} ${value === 1 ? 'line' : 'lines'}`;
}

/** `3 retries`, or nothing. */
export function toRetries(retries: number): string[] {
  return retries === 0 ? [] : [`${toCount(retries)} ${retries === 1 ? 'retry' : 'retries'}`];
}

export function toRate(count: number, elapsedMs: number): number {
  return elapsedMs <= 0 ? 0 : (count * 1000) / elapsedMs;
}

/** `4:05` or `1:04:05`. */
export function toClock(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const pair = (value: number) => String(value).padStart(2, '0');
  const rest = pair(seconds % 60);
  return hours > 0 ? `${hours}:${pair(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** Decimal units: `999 B`, `12.3 MB`. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = 'B';
  for (const larger of ['kB', 'MB', 'GB', 'TB']) {
    // 999.5 rounds to 1000, which belongs to the next unit.
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return `${value.toFixed(value < 99.95 ? 1 : 0)} ${unit}`;
}
