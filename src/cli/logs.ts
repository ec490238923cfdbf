/** `weir logs [search…]`: what is stored, oldest first, so that the newest stands by the prompt. */
import { type Command, Option } from 'commander';
import type { LogRecord } from '../model/plan.ts';
import { toCount } from './arguments.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './reading/log-filter.ts';
import { pagesBack, pagesOn, toCursorText } from './reading/log-pages.ts';
import { addPrintOptions, createPrintLogs, type PrintOptions } from './reading/print-logs.ts';
import type { OpenSession, Session } from './session.ts';
import type { Terminal } from './terminal.ts';

interface LogsOptions extends FilterOptions, PrintOptions {
  readonly limit: number;
  readonly all?: true;
  readonly newestFirst?: true;
  readonly cursor?: string;
}

const examples = `
Examples:
  weir logs --since 15m --severity error
  weir logs 'connection refused' --service checkout --label region:eu-west-1
  weir logs --since 1d --all --json | jq -r .message
  weir logs --fields time,host,label.customer,message -- timeout -retry`;

export function addLogsCommand(program: Command, open: OpenSession): void {
  const command = addPrintOptions(addRange(addFilters(program.command('logs'))));
  command
    .description('show stored logs, the newest last')
    .option('-n, --limit <n>', 'so many of the newest', toCount, 100)
    .addOption(new Option('--all', 'all of them, however many').conflicts('cursor'))
    .option('--newest-first', 'turn the order round')
    .option('--cursor <cursor>', 'only older ones than this place, as the last answer named it')
    .addHelpText('after', examples)
    .action(async (search: string[], options: LogsOptions, self: Command) => {
      const session = open(self);
      const filter = await toFilterQuery(search, options, session.api);
      await (options.all ? printAll : printNewest)(session, filter, options);
    });
}

async function printAll(
  session: Session,
  filter: URLSearchParams,
  options: LogsOptions,
): Promise<void> {
  const print = createPrintLogs(session, options);
  const { reads, terminal } = session;
  const pages = options.newestFirst ? pagesBack(reads, filter, {}) : pagesOn(reads, filter);
  let count = 0;
  for await (const logs of pages) {
    count += logs.length;
    await print(logs);
  }
  if (count === 0) sayNothingMatches(terminal);
}

/** One log more than asked for is read, since only that tells whether there are more. */
async function printNewest(
  session: Session,
  filter: URLSearchParams,
  options: LogsOptions,
): Promise<void> {
  const print = createPrintLogs(session, options);
  const { limit, cursor, newestFirst } = options;
  const held: LogRecord[] = [];
  let left = limit;
  let last: LogRecord | undefined;
  let hasMore = false;
  for await (const page of pagesBack(session.reads, filter, { most: limit + 1, cursor })) {
    hasMore = page.length > left;
    const logs = page.slice(0, left);
    left -= logs.length;
    last = logs.at(-1) ?? last;
    if (newestFirst) await print(logs);
    else held.push(...logs);
  }
  if (!newestFirst) await print(held.reverse());
  if (last === undefined) sayNothingMatches(session.terminal);
  else if (hasMore) sayHowToGoOn(session.terminal, last);
}

function sayNothingMatches({ isErrorTty, writeError, styleError }: Terminal): void {
  if (isErrorTty) writeError(`${styleError('dim', 'no logs match')}\n`);
}

function sayHowToGoOn({ writeError, styleError }: Terminal, last: LogRecord): void {
  const words = `there are older logs: --cursor ${toCursorText(last)} goes on, --all shows all`;
  writeError(`${styleError('dim', `weir: ${words}`)}\n`);
}
