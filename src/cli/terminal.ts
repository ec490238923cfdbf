/**
 * What a command says and how it fails. Values may come from anyone, so nothing in them moves a
 * cursor.
 */
import type { InspectColor } from 'node:util';

/** The world around a command. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isInTty: boolean;
  readonly isOutTty: boolean;
  readonly isErrorTty: boolean;
  /** Characters in a line at this moment; 80 where nobody knows. */
  readonly columns: number;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** The text in this style where standard output shows colours, else as it is. */
  readonly styleOut: Style;
  readonly styleError: Style;
  /**
   * Resolves once standard output has room for more, or nobody reads it any longer. What writes
   * without an end waits for it, so that a slow reader costs no memory.
   */
  readonly drained: () => Promise<void>;
  /** Standard input; the chunks are the reader's own. */
  readonly readIn: AsyncIterable<Uint8Array>;
  /** Aborted by the first Ctrl-C; a second one ends the process. */
  readonly signal: AbortSignal;
  /** Aborted once the reader of standard output has left, as `head` does. */
  readonly outClosed: AbortSignal;
}

/** @param format names of `util.styleText`, such as `red` or `['bold', 'cyan']`. */
export type Style = (format: InspectColor | readonly InspectColor[], text: string) => string;

/** 130 is what shells give to a command that Ctrl-C ended: 128 and the number of the signal. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Ends a command with one sentence on standard error. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Control and invisible formatting characters as `\uXXXX`, so that a terminal does not obey them.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, toEscapes);
}

/** Pretty JSON that says the same and holds no character that a terminal obeys. */
export function toSafeJson(value: unknown): string {
  // Line feeds are the layout; those within values are escapes already.
  return JSON.stringify(value, null, 2).split('\n').map(escapeControls).join('\n');
}

function toEscapes(character: string): string {
  let escapes = '';
  for (let i = 0; i < character.length; i += 1) {
    escapes += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}
