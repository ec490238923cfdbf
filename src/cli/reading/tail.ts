/** `weir tail [search…]`: logs as they arrive, until Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { LogRecord } from '../../model/plan.ts';
import { type Api, ApiFailure, ConnectionFailure } from '../api.ts';
import { integerWithin } from '../arguments.ts';
import { openSession, type Session } from '../session.ts';
import { escapeControls, type Terminal } from '../terminal.ts';
import { readNewest } from './pages.ts';
import { addPrintOptions, createPrintLogs, type PrintOptions } from './print-logs.ts';
import { addFilters, type FilterOptions, toFilterQuery } from './query.ts';

interface TailOptions extends FilterOptions, PrintOptions {
  readonly lines: number;
}

interface Dropped {
  readonly count: number;
  /** Times of receipt. */
  readonly fromTime: string;
  readonly untilTime: string;
}

interface Problem {
  readonly detail?: string;
  readonly title?: string;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

/** Events for the command; the connection is `lost` until the next `open`. */
type TailEvent =
  | { readonly kind: 'open' }
  | { readonly kind: 'log'; readonly log: LogRecord }
  | { readonly kind: 'dropped'; readonly dropped: Dropped }
  | { readonly kind: 'lost'; readonly reason: string };

/** The service sends a heartbeat every 5 s. */
const idleTimeoutMs = 20_000;
const minBackoffMs = 250;
const maxBackoffMs = 10_000;

const examples = `
Examples:
  weir tail
  weir tail -n 20 --service checkout --severity error --severity fatal
  weir tail --json 'payment failed' | jq -r .labels.customer

Reconnects and resumes after a lost connection. Exits with 0 on Ctrl-C.`;

export function define(command: Command, terminal: Terminal): void {
  addPrintOptions(addFilters(command))
    .option(
      '-n, --lines <n>',
      'first show this many of the newest stored logs',
      integerWithin(0, 1000),
      0,
    )
    .addHelpText('after', examples)
    .action(async (search: string[], options: TailOptions) => {
      try {
        await tail(openSession(command, terminal), search, options);
      } catch (error) {
        if (!terminal.signal.aborted) throw error;
      }
    });
}

async function tail(session: Session, search: string[], options: TailOptions): Promise<void> {
  const { api, terminal } = session;
  const print = createPrintLogs(session, options);
  const filter = await toFilterQuery(search, options, api);
  const signal = AbortSignal.any([terminal.signal, terminal.outClosed]);
  const say = (text: string) =>
    terminal.writeError(`${terminal.styleError('yellow', `weir: ${escapeControls(text)}`)}\n`);
  // Logs listed at the start, which the tail may send again.
  let listed: ReadonlySet<string> | undefined;
  let lost = '';
  for await (const event of follow(api, filter, signal)) {
    switch (event.kind) {
      case 'log':
        if (!listed?.has(event.log.logId)) await print([event.log]);
        break;
      case 'open':
        // Listed once the tail is open, so that no log is missed in between.
        if (listed === undefined) {
          const newest = options.lines === 0 ? [] : await readNewest(api, filter, options.lines);
          await print(newest.toReversed());
          listed = new Set(newest.map(({ logId }) => logId));
        }
        if (lost !== '') say('reconnected');
        lost = '';
        break;
      case 'lost':
        if (event.reason !== lost) say(`${event.reason}; retrying`);
        lost = event.reason;
        break;
      case 'dropped': {
        const { count, fromTime, untilTime } = event.dropped;
        say(
          `${count} logs were skipped, because they arrived faster than they were read ` +
            `(weir logs --since ${fromTime} --until ${untilTime} shows them)`,
        );
      }
    }
  }
}

/**
 * Reconnects with backoff and resumes after the last event, until the signal aborts.
 * @throws CommandError where the service refuses, or the first connection fails
 */
async function* follow(
  api: Api,
  filter: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<TailEvent, void, undefined> {
  let lastEventId = '';
  let hasBeenOpen = false;
  for (let failures = 0; ; failures += 1) {
    try {
      const chunks = await api.open(['logs', 'tail'], filter, {
        accept: 'text/event-stream',
        headers: lastEventId === '' ? {} : { 'last-event-id': lastEventId },
        idleTimeoutMs,
      });
      for await (const message of readMessages(chunks)) {
        failures = 0;
        hasBeenOpen = true;
        lastEventId = message.id ?? lastEventId;
        if (message.event === 'end') break;
        const event = toTailEvent(message);
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (signal.aborted || !hasBeenOpen || !isTransient(error)) throw error;
      yield { kind: 'lost', reason: error.message };
    }
    const backoffMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** failures);
    await sleep(backoffMs * (0.5 + Math.random() / 2), undefined, { signal });
  }
}

async function* readMessages(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* messages.splice(0);
  }
}

/** @returns undefined for heartbeats and unknown types. @throws ApiFailure for an error event */
function toTailEvent({ event, data }: EventSourceMessage): TailEvent | undefined {
  switch (event) {
    case 'open':
      return { kind: 'open' };
    case 'log':
      return { kind: 'log', log: JSON.parse(data) as LogRecord };
    case 'dropped':
      return { kind: 'dropped', dropped: JSON.parse(data) as Dropped };
    case 'error': {
      const { detail, title, status = 500, retryAfterSeconds } = JSON.parse(data) as Problem;
      throw new ApiFailure(detail ?? title ?? 'cannot continue', status, retryAfterSeconds);
    }
    default:
      return undefined;
  }
}

function isTransient(error: unknown): error is ConnectionFailure | ApiFailure {
  if (error instanceof ConnectionFailure) return true;
  return error instanceof ApiFailure && (error.isBusy || error.status >= 500);
}
