/** What a check has found, and how it reads. Pure. */
import { escapeControls, type Style } from '../terminal.ts';

/** `skip` = could not be looked at, because of another finding or for want of an address. */
export type Status = 'ok' | 'warn' | 'fail' | 'skip';

export interface Finding {
  /** What was looked at, such as `ingest certificate`. */
  readonly check: string;
  readonly status: Status;
  /** What is the case. */
  readonly says: string;
  /** What to do about it. */
  readonly advice?: string;
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' } as const;
const checkWidth = 20;

/** One line, and a second one for the advice. */
export function toFindingText({ check, status, says, advice }: Finding, style: Style): string {
  const mark = style(colours[status], status.padEnd(4));
  const line = `${mark}  ${check.padEnd(checkWidth)}  ${escapeControls(says)}\n`;
  if (advice === undefined) return line;
  return `${line}${' '.repeat(6)}${' '.repeat(checkWidth)}  -> ${escapeControls(advice)}\n`;
}

export function found(check: string, says: string): Finding {
  return { check, status: 'ok', says };
}

export function skipped(check: string, says: string): Finding {
  return { check, status: 'skip', says };
}
