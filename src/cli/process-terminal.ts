/** The terminal, pipes and signals of this very process, as commands see them. */
import { once } from 'node:events';
import { createStyle } from './colour.ts';
import { exitCodes, type Terminal } from './terminal.ts';

/** To be opened once, since it listens for Ctrl-C and for readers that leave. */
export function openProcessTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const outClosed = new AbortController();
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe may leave before the end; that is no failure of ours.
    if (error.code === 'EPIPE') return outClosed.abort();
    stderr.write(`weir: cannot write to standard output: ${error.message}\n`);
    // What could not be said now cannot be said later, and nothing else would tell of it.
    return process.exit(exitCodes.failed);
  });
  const isOutTty = stdout.isTTY ?? false;
  const isErrorTty = stderr.isTTY ?? false;
  return {
    environment: env,
    get isInTty() {
      return process.stdin.isTTY ?? false;
    },
    isOutTty,
    isErrorTty,
    get columns() {
      // Types promise a number; a pipe has none.
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
    // Opened by those who read it, lest it keep others alive.
    get readIn() {
      return process.stdin;
    },
    signal: interrupted.signal,
    outClosed: outClosed.signal,
  };
}
