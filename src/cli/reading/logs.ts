/** `weir logs [search…]`: stored logs, the newest last. */
import { type Command, Option } from 'commander';
import type { LogRecord } from '../../model/plan.ts';
import { integerWithin } from '../arguments.ts';
import { openSession, type Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { pagesForward, pagesOf, toCursorText } from './pages.ts';
import { addPrintOptions, createPrintLogs, type PrintOptions } from './print-logs.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './query.ts';

interface LogsOptions extends FilterOptions, PrintOptions {
  readonly limit: number;
  readonly all?: true;
  readonly newestFirst?: true;
  readonly oldestFirst?: true;
  readonly cursor?: string;
}

const examples = `
Examples:
  weir logs --since 15m --severity error
  weir logs 'connection refused' --service checkout --label region:eu-west-1
  weir logs -q 'service:checkout status:>=500 (timeout OR "connection reset")'
  weir logs --since 1d --all --json | jq -r .message
  weir logs --since 1d --oldest-first -n 20
  weir logs --fields time,host,label.customer,message -- timeout -retry`;

export function define(command: Command, terminal: Terminal): void {
  addPrintOptions(addRange(addFilters(command)))
    .option(
      '-n, --limit <n>',
      'maximum number of logs, counted from the newest, or the oldest with --oldest-first',
      integerWithin(1),
      100,
    )
    .addOption(new Option('--all', 'all logs that match').conflicts('cursor'))
    .option('--newest-first', 'print the newest log first')
    .addOption(
      new Option('--oldest-first', 'read from the oldest log of the range').conflicts(
        'newestFirst',
      ),
    )
    .option(
      '--cursor <cursor>',
      'only logs older than this cursor of an earlier response, or newer with --oldest-first',
    )
    .addHelpText('after', examples)
    .action(async (search: string[], options: LogsOptions) => {
      const session = openSession(command, terminal);
      const filter = await toFilterQuery(search, options, session.api);
      const print = options.all ? printAll : printSome;
      const count = await print(session, filter, options);
      if (count === 0 && terminal.isErrorTty) {
        terminal.writeError(`${terminal.styleError('dim', 'no logs match')}\n`);
      }
    });
}

/** @returns how many. */
async function printAll(
  session: Session,
  filter: URLSearchParams,
  options: LogsOptions,
): Promise<number> {
  const print = createPrintLogs(session, options);
  const pages = options.newestFirst
    ? pagesOf(session.api, filter)
    : pagesForward(session.api, filter);
  let count = 0;
  for await (const logs of pages) {
    count += logs.length;
    await print(logs);
  }
  return count;
}

/** Reads one log more than the limit to know whether there are more. @returns how many. */
async function printSome(
  session: Session,
  filter: URLSearchParams,
  options: LogsOptions,
): Promise<number> {
  const print = createPrintLogs(session, options);
  const { limit, cursor, newestFirst, oldestFirst } = options;
  const order = oldestFirst ? 'asc' : 'desc';
  const isPrintedAsRead = newestFirst ?? oldestFirst ?? false;
  const held: LogRecord[] = [];
  let left = limit;
  let last: LogRecord | undefined;
  let hasMore = false;
  const asked = { order, limit: limit + 1, cursor } as const;
  for await (const page of pagesOf(session.api, filter, asked)) {
    hasMore = page.length > left;
    const logs = page.slice(0, left);
    left -= logs.length;
    last = logs.at(-1) ?? last;
    if (isPrintedAsRead) await print(logs);
    else held.push(...logs);
  }
  if (!isPrintedAsRead) await print(held.reverse());
  if (last !== undefined && hasMore) {
    const { writeError, styleError } = session.terminal;
    const others = oldestFirst ? 'newer' : 'older';
    const hint = `there are ${others} logs: continue with --cursor ${toCursorText(last)}, or --all`;
    writeError(`${styleError('dim', `weir: ${hint}`)}\n`);
  }
  return limit - left;
}
