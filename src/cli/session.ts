/** The API and the output of a command that calls the service. */
import type { Command } from 'commander';
import type { Scan } from '../model/plan.ts';
import { type Api, createApi } from './api.ts';
import { type ConnectionFlags, resolveConnection } from './connection.ts';
import { toLines, toTable } from './table.ts';
import { type Terminal, toSafeJson } from './terminal.ts';

export interface Session {
  readonly api: Api;
  readonly output: Output;
  readonly terminal: Terminal;
}

export interface Output {
  readonly format: 'json' | 'text';
  /** @param response `{name: [record, …]}`; JSON prints all of it. */
  list(response: Readonly<Record<string, readonly object[]>>, columns: readonly string[]): void;
  record(record: object): void;
  /** JSON prints the record; text is written as by `write`. */
  show(record: object, toText: () => string): Promise<void>;
  /**
   * Writes text as it is and waits until standard output has room for more.
   * @throws the reason of the signal once the command is interrupted or its output closed
   */
  write(text: string): Promise<void>;
  /** Confirms an action that has no result to print; JSON prints nothing. */
  done(sentence: string): void;
}

/** @throws CommandError where the address or the token is missing */
export function openSession(command: Command, terminal: Terminal): Session {
  const flags = command.optsWithGlobals<SessionFlags>();
  const connection = resolveConnection(flags, terminal.environment);
  const signal = AbortSignal.any([terminal.signal, terminal.outClosed]);
  const api = createApi(connection, signal, (scanned) => {
    if (flags.verbose) terminal.writeError(`${terminal.styleError('dim', scanText(scanned))}\n`);
  });
  return { api, output: createOutput(terminal, flags), terminal };
}

interface SessionFlags extends ConnectionFlags {
  readonly json?: true;
  readonly verbose?: true;
}

function scanText({ rows, bytes }: Scan): string {
  return `weir: scanned ${rows.toLocaleString('en-US')} logs, ${(bytes / 1e6).toFixed(1)} MB`;
}

export function createOutput(terminal: Terminal, { json }: { readonly json?: true }): Output {
  const { writeOut, drained, signal, outClosed } = terminal;
  const write = async (text: string): Promise<void> => {
    writeOut(text);
    await drained();
    signal.throwIfAborted();
    outClosed.throwIfAborted();
  };
  if (json) {
    const record = (value: object) => writeOut(`${toSafeJson(value)}\n`);
    const show = async (value: object) => record(value);
    return { format: 'json', list: record, record, show, done: () => {}, write };
  }
  return {
    format: 'text',
    list: (response, columns) => writeOut(toTable(Object.values(response)[0] ?? [], columns)),
    record: (record) => writeOut(toLines(record)),
    show: (_record, toText) => write(toText()),
    done: (sentence) => writeOut(`${sentence}\n`),
    write,
  };
}
