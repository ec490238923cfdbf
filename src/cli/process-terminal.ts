/** The terminal, pipes and signals of this very process, as commands see them. */
import { once } from 'node:events';
import { createStyle } from './colour.ts';
import type { Terminal } from './terminal.ts';

/** To be opened once, since it listens for Ctrl-C and for readers that leave. */
export function openProcessTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const outClosed = new AbortController();
  // The reader of a pipe may leave before the end; that is no failure of ours.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    outClosed.abort();
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
