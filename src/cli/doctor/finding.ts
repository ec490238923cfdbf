/** The result of one check. */
import { escapeControls, type Style } from '../terminal.ts';

/** `skip`: could not be checked, because of another finding or a missing address. */
export type Status = 'ok' | 'warn' | 'fail' | 'skip';

export interface Finding {
  /** Such as `ingest certificate`. */
  readonly check: string;
  readonly status: Status;
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

export function warning(check: string, says: string, advice: string): Finding {
  return { check, status: 'warn', says, advice };
}

export function failure(check: string, says: string, advice?: string): Finding {
  return { check, status: 'fail', says, ...(advice !== undefined && { advice }) };
}
