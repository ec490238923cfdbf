/** A terminal that records output, for commands that run within a test. */
import { createStyle, type Terminal } from '../../src/cli/terminal.ts';

export interface CapturedTerminal extends Terminal {
  out(): string;
  error(): string;
}

/** Pipes without input, unless `world` overrides them. */
export function captureTerminal(world: Partial<Terminal> = {}): CapturedTerminal {
  let out = '';
  let error = '';
  const { environment = {}, isOutTty = false, isErrorTty = false } = world;
  return {
    environment,
    isInTty: false,
    isOutTty,
    isErrorTty,
    columns: 80,
    writeOut: (text) => (out += text),
    writeError: (text) => (error += text),
    styleOut: createStyle(environment, isOutTty),
    styleError: createStyle(environment, isErrorTty),
    drained: async () => {},
    readIn: noInput(),
    signal: new AbortController().signal,
    outClosed: new AbortController().signal,
    ...world,
    out: () => out,
    error: () => error,
  };
}

async function* noInput(): AsyncGenerator<Uint8Array> {}
