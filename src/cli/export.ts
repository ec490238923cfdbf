/** `weir export`: all logs that match, as NDJSON or CSV, into a file or a pipe. */
import { type Command, Option } from 'commander';
import { writeFileWhole } from './reading/whole-file.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './reading/log-filter.ts';
import type { OpenSession, Session } from './session.ts';
import { escapeControls } from './terminal.ts';

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

With -o the file appears once it is complete.`;

export function addExportCommand(program: Command, open: OpenSession): void {
  addRange(addFilters(program.command('export')))
    .description('write all logs that match, the newest first')
    .addOption(
      new Option('--format <format>', 'form of the logs')
        .choices(['ndjson', 'csv'])
        .default('ndjson'),
    )
    .option('-o, --output <file>', 'file to write, instead of standard output')
    .option('--utc', 'read times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (search: string[], options: ExportOptions, self: Command) => {
      const session = open(self);
      const query = await toFilterQuery(search, options, session.api);
      query.set('format', options.format);
      const chunks = await session.reads.open(['logs', 'export'], query, {
        accept: options.format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        idleTimeoutMs,
      });
      if (options.output === undefined) await writeOut(session, chunks);
      else await writeFileWhole(options.output, chunks);
    });
}

/** A file or another program gets every byte as it came; a terminal none that it obeys. */
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

function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
