/** `weir import FILE…`: whole files to a receiver; a repeated import stores each line once. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { resolveTarget, type TargetFlags } from '../connection.ts';
import { CommandError, exitCodes, type Terminal } from '../terminal.ts';
import type { Batch, OutgoingEvent } from './batcher.ts';
import { createCsvSource } from './csv-source.ts';
import { createLineReader, lineFormats, type LineFormat } from './event-line.ts';
import {
  dropProgress,
  type FileReading,
  findFile,
  type ImportFile,
  readProgress,
  standardInput,
  writeProgress,
} from './import-file.ts';
import { createLineSource, type SourceOptions } from './lines.ts';
import { addGiveUpOption, addSendingOptions, type EventFlags, toDefaults } from './options.ts';
import { toFileLine, toLineCount } from './progress.ts';
import { type EventSource, pump } from './pump.ts';
import { openShipping, type Shipping, type ShippingFlags } from './shipping.ts';
import { Tally } from './tally.ts';

interface ImportFlags extends Omit<EventFlags, 'format'>, ShippingFlags, TargetFlags {
  readonly format: LineFormat | 'csv';
  readonly resume?: true;
  readonly dryRun?: true;
}

/** No linger: the same file must make the same batches however fast it is read. */
const limits = { maxEvents: 5000, maxBytes: 4 * 1024 * 1024, lingerMs: Number.POSITIVE_INFINITY };
const saveProgressEveryMs = 500;

const examples = `
Reads lines, NDJSON (also from weir export) and CSV with a header, each plain, gzip or zstd;
"-" is standard input. Logs that Weir exported keep message, severity, service, namespace, host,
time, labels, trace and span; Kubernetes' names, event name and scope become labels.

An import can be repeated: within 24 hours Weir recognizes each request of the same file, options
and receiver and stores it once. With --resume the position is stored in FILE.weir-import until the
file is complete, and a later import continues there.

Examples:
  weir import app.log --service shop --host web-1
  weir import --resume archive-*.ndjson.gz
  weir export --since 1d | weir import - --receiver-url https://…/logs
`;

export function define(command: Command, terminal: Terminal): void {
  addGiveUpOption(addSendingOptions(command, [...lineFormats, 'csv']))
    .argument('<file...>', 'files to send one after the other; - is standard input')
    .option(
      '--resume',
      'save the position beside each file, and resume where the last import stopped',
    )
    .option('--dry-run', 'read the files and print what would be sent')
    .addHelpText('after', examples)
    .action(async (names: readonly string[]) => {
      const flags = command.optsWithGlobals<ImportFlags>();
      await (flags.dryRun ? dryRun(names, flags, terminal) : importAll(names, flags, terminal));
    });
}

async function importAll(
  names: readonly string[],
  flags: ImportFlags,
  terminal: Terminal,
): Promise<void> {
  if (flags.resume && names.includes('-')) {
    throw new CommandError('cannot resume standard input: it has no position', exitCodes.usage);
  }
  const target = resolveTarget(flags, terminal.environment);
  const { severity, service, namespace, host, label = new Map(), format } = flags;
  const settings = [target.url.href, severity, service, namespace, host, [...label], format];
  const files = await findFiles(names, JSON.stringify(settings), terminal);
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let finishedBytes = 0;
  let reading: FileReading | undefined;
  const shipping = openShipping(terminal, target, {
    flags,
    toLine: (progress) => {
      const readBytes = finishedBytes + (reading?.readBytes() ?? 0);
      return toFileLine({ ...progress, totalBytes, readBytes });
    },
    resumeHint: flags.resume
      ? '; repeat the command to resume'
      : '; the same command within 24 hours stores nothing twice',
  });
  const importEach = async () => {
    for (const file of files) {
      if (terminal.signal.aborted) return;
      if (files.length > 1) shipping.begin(`${file.name}: `);
      const settledOffset = flags.resume ? readProgress(file) : 0;
      reading = file.open();
      const { signal: stop } = terminal;
      await importFile(file, reading, { shipping, flags, settledOffset, stop });
      finishedBytes += file.bytes;
      reading = undefined;
    }
  };
  await shipping.conclude(importEach());
}

async function importFile(
  file: ImportFile,
  { chunks }: FileReading,
  context: {
    readonly shipping: Shipping;
    readonly flags: ImportFlags;
    readonly settledOffset: number;
    readonly stop: AbortSignal;
  },
): Promise<void> {
  const { shipping, flags, settledOffset, stop } = context;
  const { tally } = shipping;
  const source = createSource(file, flags, { tally, settledOffset });
  const dispatcher = shipping.openDispatcher((batch, body) => toKey(file, batch, body));
  const work = () => pump(chunks, source, dispatcher, { ...limits, stop });
  if (!flags.resume) return work();
  const save = () => writeProgress(file, Math.max(settledOffset, dispatcher.settledOffset()));
  save();
  const timer = setInterval(save, saveProgressEveryMs);
  let isDone = false;
  try {
    await work();
    isDone = !stop.aborted;
  } finally {
    clearInterval(timer);
    if (isDone) dropProgress(file);
    else save();
  }
}

/** The same for the same part of a repeated import. */
function toKey({ identity }: ImportFile, { events }: Batch, body: Buffer): string {
  const place = `${identity}\0${events[0]?.endOffset ?? 0}\0`;
  return createHash('sha256').update(place).update(body).digest('hex');
}

function createSource(file: ImportFile, flags: ImportFlags, options: SourceOptions): EventSource {
  const defaults = toDefaults(flags, hostname());
  const isNamedCsv = /\.csv(?:\.\w+)?$/i.test(file.name);
  const format = flags.format === 'auto' && isNamedCsv ? 'csv' : flags.format;
  if (format === 'csv') return createCsvSource(defaults, options);
  return createLineSource(createLineReader(format, defaults), options);
}

async function findFiles(
  names: readonly string[],
  settings: string,
  { readIn }: Terminal,
): Promise<ImportFile[]> {
  return Promise.all(
    names.map(async (name) => (name === '-' ? standardInput(readIn) : findFile(name, settings))),
  );
}

async function dryRun(
  names: readonly string[],
  flags: ImportFlags,
  terminal: Terminal,
): Promise<void> {
  let rejected = 0;
  for (const file of await findFiles(names, '', terminal)) {
    const tally = new Tally();
    const source = createSource(file, flags, { tally });
    let timed = 0;
    let sendable = 0;
    const count = (events: Iterable<OutgoingEvent>) => {
      for (const { isTimed } of events) {
        sendable += 1;
        timed += Number(isTimed);
      }
    };
    for await (const chunk of file.open().chunks) count(source.push(Buffer.from(chunk)));
    count(source.end());
    rejected += tally.rejected;
    for (const { line, reason } of tally.takeNews()) {
      terminal.writeError(`weir: ${file.name}: line ${line}: ${reason}\n`);
    }
    terminal.writeOut(
      `${file.name}: ${toLineCount(sendable)} to send, ${timed} with a timestamp; ` +
        `${tally.rejected} to be rejected, ${tally.blank} blank\n`,
    );
  }
  if (rejected > 0) throw new CommandError(`${toLineCount(rejected)} could not be sent`);
}
