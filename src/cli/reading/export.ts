/** `weir export [search…]`: all logs that match, as NDJSON or CSV. */
import { randomBytes } from 'node:crypto';
import { open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { renameDurably } from '../../files/atomic-file.ts';
import { messageOf } from '../../std/error-text.ts';
import { openSession, type Session } from '../session.ts';
import { CommandError, escapeLines, type Terminal } from '../terminal.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './query.ts';

interface ExportOptions extends FilterOptions {
  readonly format: 'ndjson' | 'csv';
  readonly output?: string;
}

const idleTimeoutMs = 120_000;

const examples = `
Examples:
  weir export --since 1d -o yesterday.ndjson
  weir export --format csv --service checkout --since 2027-01-01 --until 2027-02-01 -o january.csv
  weir export --since 7d | gzip > week.ndjson.gz

With -o the file is created when the export is complete.`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilters(command))
    .addOption(
      new Option('--format <format>', 'output format').choices(['ndjson', 'csv']).default('ndjson'),
    )
    .option('-o, --output <file>', 'file to write, instead of standard output')
    .option('--utc', 'parse times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (search: string[], options: ExportOptions) => {
      const session = openSession(command, terminal);
      const query = await toFilterQuery(search, options, session.api);
      query.set('format', options.format);
      const chunks = await session.api.open(['logs', 'export'], query, {
        accept: options.format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        idleTimeoutMs,
      });
      if (options.output === undefined) await writeOut(session, chunks);
      else await writeFileWhole(options.output, chunks);
    });
}

/** A file or a pipe gets the bytes as they are, a terminal gets them escaped. */
async function writeOut(
  { output, terminal }: Session,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    await output.write(terminal.isOutTty ? escapeLines(text) : text);
  }
}

/**
 * Writes beside the file and renames at the end, so an existing file stays until then. Replaces
 * the target of a link; writes to a device or a pipe directly.
 * @throws CommandError where the file cannot be written; any error of the chunks
 */
async function writeFileWhole(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) {
    return writeTo(file, 'w', { file, chunks });
  }
  const target = existing === undefined ? file : await realpath(file);
  const suffix = randomBytes(4).toString('hex');
  const part = join(dirname(target), `.${basename(target)}.${suffix}.part`);
  try {
    await writeTo(part, 'wx', { file, chunks });
    try {
      renameDurably(part, target);
    } catch (error) {
      fail(file, error);
    }
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** @param path of the file, or of its temporary file. */
async function writeTo(
  path: string,
  flags: 'w' | 'wx',
  { file, chunks }: { readonly file: string; readonly chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  const orFail = (error: unknown) => fail(file, error);
  await using handle = await open(path, flags).catch(orFail);
  for await (const chunk of chunks) await handle.writeFile(chunk).catch(orFail);
  // Syncing a device or a pipe fails.
  if ((await handle.stat()).isFile()) await handle.sync().catch(orFail);
}

function fail(file: string, error: unknown): never {
  throw new CommandError(`cannot write ${file}: ${messageOf(error)}`);
}
