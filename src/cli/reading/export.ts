/** `weir export [search…]`: all logs that match, as NDJSON or CSV. */
import { type Command, Option } from 'commander';
import { openSession, type Session } from '../session.ts';
import { escapeLines, type Terminal } from '../terminal.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './query.ts';
import { writeFileWhole } from './whole-file.ts';

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
