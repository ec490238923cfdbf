/**
 * What a command says and how it fails. Values may come from anyone, so nothing in them moves a
 * cursor.
 */

/** The world around a command. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
}

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

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
