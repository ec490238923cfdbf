/**
 * A line on standard error that is written over again and again, on a terminal alone, and the
 * sentences that stand above it.
 */
import { stripVTControlCharacters } from 'node:util';
import { escapeControls, type Terminal } from '../terminal.ts';

export interface ProgressLine {
  /** A sentence that stays. */
  note(text: string): void;
  /** Takes the line away. */
  close(): void;
}

const everyMs = 200;
const eraseLine = '\r\u001b[K';

export interface ProgressOptions {
  /** What the line says now. */
  readonly text: () => string;
  /** Called as often as the line is drawn, terminal or not. */
  readonly tick: () => void;
  readonly isShown: boolean;
}

/** To be closed, since it draws by a timer. */
export function openProgressLine(
  terminal: Terminal,
  { text, tick, isShown }: ProgressOptions,
): ProgressLine {
  const { writeError } = terminal;
  const draw = () => {
    tick();
    if (!isShown) return;
    // A line that wraps could not be erased.
    const line = escapeControls(stripVTControlCharacters(text())).slice(0, terminal.columns - 1);
    writeError(`${eraseLine}${line}`);
  };
  const timer = setInterval(draw, everyMs);
  return {
    note: (sentence) => writeError(`${isShown ? eraseLine : ''}${escapeControls(sentence)}\n`),
    close() {
      clearInterval(timer);
      if (isShown) writeError(eraseLine);
    },
  };
}
