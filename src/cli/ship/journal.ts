/** Ships the journal of systemd, read by journalctl. */
import { spawn } from 'node:child_process';
import { CommandError } from '../terminal.ts';
import type { OutgoingEvent } from '../sending/batcher.ts';
import { LineSplitter } from '../sending/lines.ts';
import { within } from '../sending/pump.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Send } from './ship-file.ts';

export interface JournalOptions {
  readonly program: string;
  /** Only this unit; empty = all. */
  readonly units: readonly string[];
  readonly isFollowing: boolean;
  /** Skips what is there when it is first read. */
  readonly fromEnd: boolean;
  readonly toEvents: (event: object, line: number) => OutgoingEvent[];
  readonly send: Send;
  readonly lingerMs: number;
  readonly stop: AbortSignal;
}

type Entry = Readonly<Record<string, unknown>>;

const maxEvents = 1000;
const severities = ['EMERG', 'ALERT', 'CRIT', 'ERR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'];

/** Ends when journalctl ends, or after `stop`. @throws CommandError when journalctl fails */
export async function shipJournal(
  checkpoints: Checkpoints,
  options: JournalOptions,
): Promise<void> {
  const journal = (checkpoints.state.journal ??= { after: null });
  const { program, units, isFollowing, fromEnd, stop } = options;
  const words = [
    '--output=json',
    // Without it long fields are left out.
    '--all',
    ...(isFollowing ? ['--follow'] : []),
    journal.after === null ? `--lines=${fromEnd ? 0 : 'all'}` : `--after-cursor=${journal.after}`,
    ...units.map((unit) => `--unit=${unit}`),
  ];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], signal: stop });
  const ended = Promise.withResolvers<string | undefined>();
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-500)));
  child.on('error', (error) => ended.resolve(stop.aborted ? undefined : error.message));
  child.on('close', (code) =>
    ended.resolve(code === 0 ? undefined : said || `exit code ${String(code)}`),
  );
  let lines = 0;
  let batch: Entry[] = [];

  const flush = async (): Promise<void> => {
    // Nothing is sent after `stop`: the next start reads these entries again.
    if (stop.aborted) return;
    const sent = batch;
    batch = [];
    const cursor = sent.at(-1)?.['__CURSOR'];
    if (typeof cursor !== 'string') return;
    if (journal.pending === undefined) {
      journal.pending = cursor;
      checkpoints.save();
    }
    const first = lines - sent.length + 1;
    const events = sent.flatMap((entry, index) => options.toEvents(toEvent(entry), first + index));
    if (events.length > 0) await options.send(events, `journal:${cursor}`);
    journal.after = cursor;
    delete journal.pending;
  };

  const iterator = readLines(child.stdout);
  let next = iterator.next();
  next.catch(() => {});
  for (;;) {
    const result = await within(next, batch.length === 0 ? Infinity : options.lingerMs);
    // A batch that was being sent at a crash ends where it did then.
    if (result === undefined) {
      if (journal.pending === undefined) await flush();
      else await next.catch(() => undefined);
      continue;
    }
    if (result.done === true) break;
    next = iterator.next();
    next.catch(() => {});
    const entry = JSON.parse(result.value) as Entry;
    lines += 1;
    batch.push(entry);
    const { pending } = journal;
    // The end of an interrupted batch may have been deleted with its journal file.
    if (batch.length > maxEvents) delete journal.pending;
    const isEnd = pending === undefined ? batch.length >= maxEvents : pending === entry['__CURSOR'];
    if (isEnd || batch.length > maxEvents) await flush();
  }
  await flush();
  checkpoints.save();
  const fault = await ended.promise;
  if (fault !== undefined && !stop.aborted) {
    throw new CommandError(`cannot read the journal: ${program}: ${fault.trim()}`);
  }
}

/** Not by `readline`, which ends lines at U+2028 too. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = new LineSplitter(Infinity);
  for await (const chunk of chunks) {
    for (const { bytes } of splitter.push(chunk)) yield bytes!.toString();
  }
}

function toEvent(entry: Entry): object {
  const text = (name: string) => {
    const value = entry[name];
    // Bytes that are not UTF-8 come as an array of numbers.
    return Array.isArray(value) ? Buffer.from(value as number[]).toString() : value;
  };
  const severity = severities[Number(entry['PRIORITY'])];
  const time = entry['_SOURCE_REALTIME_TIMESTAMP'] ?? entry['__REALTIME_TIMESTAMP'];
  const micros = typeof time === 'string' ? time : '';
  const service = text('SYSLOG_IDENTIFIER') ?? text('_COMM');
  const labels = { unit: text('_SYSTEMD_UNIT'), pid: text('_PID'), transport: text('_TRANSPORT') };
  return {
    message: text('MESSAGE') ?? '',
    ...(severity !== undefined && { severity }),
    ...(micros !== '' && { timestamp: toTime(micros) }),
    ...(service !== undefined && { service_name: service }),
    ...(entry['_HOSTNAME'] !== undefined && { host: entry['_HOSTNAME'] }),
    labels: Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)),
  };
}

function toTime(micros: string): string {
  return `${new Date(Number(micros.slice(0, -3))).toISOString().slice(0, -1)}${micros.slice(-3)}Z`;
}
