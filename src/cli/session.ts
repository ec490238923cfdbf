/**
 * What every command that speaks to the service is made of: its options, its calls, its output.
 */
import type { Command } from 'commander';
import { createApiClient } from './api-client.ts';
import { type ConnectionFlags, resolveConnection } from './connection.ts';
import { type ControlApi, createControlApi } from './control-api.ts';
import { createReadApi, type ReadApi } from './read-api.ts';
import { toLines, toTable } from './table.ts';
import { type Terminal, toSafeJson } from './terminal.ts';

interface SharedFlags extends ConnectionFlags {
  readonly json?: true;
}

export interface Session {
  readonly api: ControlApi;
  readonly reads: ReadApi;
  readonly output: Output;
  readonly format: Format;
  readonly terminal: Terminal;
}

type Format = 'json' | 'text';

export interface Output {
  /** @param answer `{name: [record, …]}`, printed whole as JSON. */
  list(answer: Readonly<Record<string, readonly object[]>>, columns: readonly string[]): void;
  record(record: object): void;
  /**
   * A piece of what may be long, as it is; resolves once there is room for the next.
   * @throws the reason of the signal once the command is to end
   */
  write(text: string): Promise<void>;
  /** For what leaves nothing to show: a sentence for people, nothing for scripts. */
  done(sentence: string): void;
}

/** Options of every command, declared once on the program. */
export function addSharedOptions(program: Command): Command {
  return program
    .option('--url <url>', 'address of the stream port [WEIR_URL]')
    .option('--token <secret>', 'access token; the environment hides it better [WEIR_TOKEN]')
    .option('--account <uuid>', 'account to work in [WEIR_ACCOUNT]')
    .option('--ca-file <file>', 'certificate authority to trust, in PEM [WEIR_CA_FILE]')
    .option('--data <dir>', 'data directory, ./data by default [WEIR_DATA]')
    .option('--json', 'print JSON, for scripts');
}

export type OpenSession = (command: Command) => Session;

/** @throws CommandError where the address or the token is missing */
export function openSession(command: Command, terminal: Terminal): Session {
  const flags = command.optsWithGlobals<SharedFlags>();
  const connection = resolveConnection(flags, terminal.environment);
  const signal = AbortSignal.any([terminal.signal, terminal.outClosed]);
  const client = createApiClient(connection, signal);
  const api = createControlApi(client, connection, signal);
  const format = flags.json ? 'json' : 'text';
  return {
    api,
    reads: createReadApi(client, { signal, activeAccount: api.activeAccount }),
    output: createOutput(terminal, format),
    format,
    terminal,
  };
}

export function createOutput(terminal: Terminal, format: Format): Output {
  const { writeOut, drained, signal, outClosed } = terminal;
  const write = async (text: string): Promise<void> => {
    writeOut(text);
    await drained();
    signal.throwIfAborted();
    outClosed.throwIfAborted();
  };
  if (format === 'json') {
    const writeJson = (value: object) => writeOut(`${toSafeJson(value)}\n`);
    return { list: writeJson, record: writeJson, done: () => {}, write };
  }
  return {
    list: (answer, columns) => writeOut(toTable(Object.values(answer)[0] ?? [], columns)),
    record: (record) => writeOut(toLines(record)),
    done: (sentence) => writeOut(`${sentence}\n`),
    write,
  };
}
