/** `weir tail [search…]`: logs as they arrive, until Ctrl-C. */
import { type Command, InvalidArgumentError } from 'commander';
import { toInteger } from './arguments.ts';
import { type Dropped, follow } from './reading/follow.ts';
import { addFilters, type FilterOptions, toFilterQuery } from './reading/log-filter.ts';
import { readNewest } from './reading/log-pages.ts';
import {
  addPrintOptions,
  createPrintLogs,
  type PrintLogs,
  type PrintOptions,
} from './reading/print-logs.ts';
import type { OpenSession, Session } from './session.ts';
import { escapeControls, type Terminal } from './terminal.ts';

interface TailOptions extends FilterOptions, PrintOptions {
  readonly lines: number;
}

const mostLines = 1_000;

const examples = `
Examples:
  weir tail
  weir tail -n 20 --service checkout --severity error --severity fatal
  weir tail --json 'payment failed' | jq -r .labels.customer

It connects again by itself and goes on where it was. Ctrl-C ends it with 0.`;

export function addTailCommand(program: Command, open: OpenSession): void {
  addPrintOptions(addFilters(program.command('tail')))
    .description('show logs as they arrive')
    .option('-n, --lines <n>', 'the newest that are there already, first', toLines, 0)
    .addHelpText('after', examples)
    .action(async (search: string[], options: TailOptions, self: Command) => {
      const session = open(self);
      try {
        await tail(session, search, options);
      } catch (error) {
        // Nothing but Ctrl-C ends a tail that goes well.
        if (!session.terminal.signal.aborted) throw error;
      }
    });
}

async function tail(session: Session, search: string[], options: TailOptions): Promise<void> {
  const { reads, terminal, api } = session;
  const print = createPrintLogs(session, options);
  const filter = await toFilterQuery(search, options, api);
  const signal = AbortSignal.any([terminal.signal, terminal.outClosed]);
  // What both the list and the tail give is printed once.
  let known: ReadonlySet<string> | undefined;
  // A service that stays away is told of once, however often it is tried.
  let lost = '';
  for await (const item of follow(reads, filter, signal)) {
    switch (item.kind) {
      case 'log':
        if (!known?.has(item.log.logId)) await print([item.log]);
        break;
      case 'open':
        known ??= await printNewest(session, print, { filter, lines: options.lines });
        if (lost !== '') say('connected again', terminal);
        lost = '';
        break;
      case 'lost':
        if (item.reason !== lost) say(`${item.reason}; trying again`, terminal);
        lost = item.reason;
        break;
      case 'dropped':
        say(wordsOfDropped(item.dropped), terminal);
    }
  }
}

/** Only once the tail is open, so that nothing falls between the two. @returns their ids. */
async function printNewest(
  { reads }: Session,
  print: PrintLogs,
  { filter, lines }: { filter: URLSearchParams; lines: number },
): Promise<ReadonlySet<string>> {
  if (lines === 0) return new Set();
  const newest = await readNewest(reads, filter, lines);
  await print(newest.toReversed());
  return new Set(newest.map(({ logId }) => logId));
}

function say(words: string, { writeError, styleError }: Terminal): void {
  writeError(`${styleError('yellow', `weir: ${escapeControls(words)}`)}\n`);
}

function wordsOfDropped({ count, fromTime, untilTime }: Dropped): string {
  return (
    `${count} logs were left out, for they came faster than they were read ` +
    `(weir logs --since ${fromTime} --until ${untilTime} shows them)`
  );
}

function toLines(text: string): number {
  const lines = toInteger(text);
  if (lines <= mostLines) return lines;
  throw new InvalidArgumentError(`Give at most ${mostLines}; weir logs shows more.`);
}
