/** Input, output and errors of commands. */
import { once } from 'node:events';
import { type InspectColor, styleText } from 'node:util';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Passed to every command, so that tests can stand in for the process. */
export interface Terminal {
  readonly environment: Environment;
  readonly isInTty: boolean;
  readonly isOutTty: boolean;
  readonly isErrorTty: boolean;
  /** Current width in characters; 80 where it is unknown. */
  readonly columns: number;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Colours text where standard output shows colours. */
  readonly styleOut: Style;
  readonly styleError: Style;
  /** Resolves once standard output has room for more, is closed, or the command is interrupted. */
  readonly drained: () => Promise<void>;
  /** Standard input. */
  readonly readIn: AsyncIterable<Uint8Array>;
  /** Aborted by the first Ctrl-C; a second one ends the process. */
  readonly signal: AbortSignal;
  /** Aborted once the reader of standard output has closed it, as `head` does. */
  readonly outClosed: AbortSignal;
}

/** @param format names of `util.styleText`, such as `red` or `['bold', 'cyan']`. */
export type Style = (format: InspectColor | readonly InspectColor[], text: string) => string;

/** 130 is the shell convention for SIGINT: 128 plus the number of the signal. */
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

/** The terminal of this process. To be called once: it listens for SIGINT and output errors. */
export function openProcessTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const outClosed = new AbortController();
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return outClosed.abort();
    stderr.write(`weir: cannot write to standard output: ${error.message}\n`);
    return process.exit(exitCodes.failed);
  });
  const isOutTty = stdout.isTTY ?? false;
  const isErrorTty = stderr.isTTY ?? false;
  return {
    environment: env,
    // Getters: opening standard input would keep the process alive.
    get isInTty() {
      return process.stdin.isTTY ?? false;
    },
    get readIn() {
      return process.stdin;
    },
    isOutTty,
    isErrorTty,
    get columns() {
      // The types promise a number; a pipe has none.
      const columns = (isOutTty ? stdout.columns : stderr.columns) as number | undefined;
      return columns || Number(env['COLUMNS']) || 80;
    },
    writeOut: (text) => stdout.write(text),
    writeError: (text) => stderr.write(text),
    styleOut: createStyle(env, isOutTty),
    styleError: createStyle(env, isErrorTty),
    drained: async () => {
      const signal = AbortSignal.any([interrupted.signal, outClosed.signal]);
      if (!stdout.writableNeedDrain || signal.aborted) return;
      await once(stdout, 'drain', { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    signal: interrupted.signal,
    outClosed: outClosed.signal,
  };
}

/** Source: https://no-color.org, https://force-color.org and `TERM=dumb`. */
export function createStyle(environment: Environment, isTty: boolean): Style {
  if (!hasColours(environment, isTty)) return (_format, text) => text;
  return (format, text) => {
    if (text === '') return '';
    // styleText would consult this process's streams, not the given environment.
    const options = { validateStream: false };
    return styleText(typeof format === 'string' ? format : [...format], text, options);
  };
}

function hasColours(environment: Environment, isTty: boolean): boolean {
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTty && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}

/** Replaces control and invisible formatting characters by `\uXXXX`. */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Pretty JSON without characters that a terminal acts on. */
export function toSafeJson(value: unknown): string {
  return escapeLines(JSON.stringify(value, null, 2));
}

/** Like `escapeControls`, keeping line feeds. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
