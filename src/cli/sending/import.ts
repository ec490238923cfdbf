/** `weir import FILE…`: whole files to a receiver, each line once however often it is repeated. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Batch } from './batcher.ts';
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
import { createLineSource } from './line-source.ts';
import { addSendingOptions, type EventFlags, toDefaults } from './options.ts';
import { toFileLine, toLineCount } from './progress-text.ts';
import { type EventSource, pump } from './pump.ts';
import { openShipping, type Shipping, type ShippingFlags } from './shipping.ts';
import { Tally } from './tally.ts';
import { resolveTarget, type TargetFlags } from '../connection.ts';
import { CommandError, exitCodes, type Terminal } from '../terminal.ts';

interface ImportFlags extends Omit<EventFlags, 'format'>, ShippingFlags, TargetFlags {
  readonly format: LineFormat | 'csv';
  readonly resume?: true;
  readonly dryRun?: true;
}

/** Nothing waits for a file, and a batch must not depend on how fast it is read. */
const limits = { maxEvents: 5000, maxBytes: 4 * 1024 * 1024, lingerMs: Number.POSITIVE_INFINITY };
const keepProgressEveryMs = 500;

const examples = `
Takes lines, NDJSON (what weir export writes, too) and CSV with a header, plain or as gzip or zstd;
"-" is standard input. Logs that Weir exported keep message, severity, service, namespace, host,
time, labels, trace and span; Kubernetes' names, event name and scope become labels.

An import can be repeated: within 24 hours Weir knows each request of the same file, options and
receiver again and stores it once. With --resume the place is kept in FILE.weir-import, to go on
there at any time without reading the answers again.

Examples:
  weir import app.log --service shop --host web-1
  weir import --resume archive-*.ndjson.gz
  weir export --since 1d | weir import - --receiver-url https://…/logs
`;

export function define(command: Command, terminal: Terminal): void {
  addSendingOptions(command, [...lineFormats, 'csv'])
    .argument('<file...>', 'files to send one after the other; - is standard input')
    .option('--resume', 'keep the place beside each file, and go on where the last import stopped')
    .option('--dry-run', 'read the files and say what would be sent')
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
    throw new CommandError('cannot resume standard input: it has no place', exitCodes.usage);
  }
  const target = resolveTarget(flags, terminal.environment);
  const files = await findFiles(names, settingsOf(flags, target.url.href), terminal);
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let finishedBytes = 0;
  let reading: FileReading | undefined;
  const shipping = openShipping(terminal, target, {
    flags,
    toLine: (progress) =>
      toFileLine({
        ...progress,
        totalBytes,
        readBytes: finishedBytes + (reading?.readBytes() ?? 0),
      }),
    goOnHint: flags.resume
      ? '; the same command goes on from there'
      : '; the same command within 24 hours stores nothing twice',
  });
  const importEach = async () => {
    for (const file of files) {
      if (terminal.signal.aborted) return;
      if (files.length > 1) shipping.begin(`${file.name}: `);
      const settledOffset = flags.resume ? readProgress(file) : 0;
      reading = file.open();
      const { tally } = shipping;
      const source = createSource(file, flags, { tally, settledOffset });
      await importFile({ file, reading, source, shipping, flags, settledOffset, terminal });
      finishedBytes += file.bytes;
      reading = undefined;
    }
  };
  await shipping.conclude(importEach());
}

interface FileImport {
  readonly file: ImportFile;
  readonly reading: FileReading;
  readonly source: EventSource;
  readonly shipping: Shipping;
  readonly flags: ImportFlags;
  readonly settledOffset: number;
  readonly terminal: Terminal;
}

async function importFile(parts: FileImport): Promise<void> {
  const { file, reading, source, shipping, flags, settledOffset, terminal } = parts;
  const lanes = shipping.openLanes((batch, body) => toKey(file, batch, body));
  const keep = () => writeProgress(file, Math.max(settledOffset, lanes.settledOffset));
  if (!flags.resume) {
    await pump(reading.chunks, source, lanes, { ...limits, stop: terminal.signal });
    return;
  }
  keep();
  const timer = setInterval(keep, keepProgressEveryMs);
  let isDone = false;
  try {
    await pump(reading.chunks, source, lanes, { ...limits, stop: terminal.signal });
    isDone = !terminal.signal.aborted;
  } finally {
    clearInterval(timer);
    if (isDone) dropProgress(file);
    else keep();
  }
}

/** The same for the same part of the same import, so that its repetition is known. */
function toKey({ identity }: ImportFile, { events }: Batch, body: Buffer): string {
  const place = `${identity}\0${events[0]?.endOffset ?? 0}\0`;
  return createHash('sha256').update(place).update(body).digest('hex');
}

function settingsOf(flags: ImportFlags, url: string): string {
  const { severity, service, namespace, host, label = new Map(), format } = flags;
  return JSON.stringify([url, severity, service, namespace, host, [...label], format]);
}

function createSource(
  file: ImportFile,
  flags: ImportFlags,
  { tally, settledOffset }: { tally: Tally; settledOffset: number },
): EventSource {
  const defaults = toDefaults(flags, hostname());
  const isNamedCsv = /\.csv(?:\.\w+)?$/i.test(file.name);
  const format = flags.format === 'auto' && isNamedCsv ? 'csv' : flags.format;
  if (format === 'csv') return createCsvSource({ defaults, tally, settledOffset });
  const read = createLineReader(format, defaults);
  return createLineSource({ read, tally, settledOffset });
}

async function findFiles(
  names: readonly string[],
  settings: string,
  terminal: Terminal,
): Promise<ImportFile[]> {
  const find = async (name: string) =>
    name === '-' ? standardInput(terminal.readIn) : findFile(name, settings);
  return Promise.all(names.map(find));
}

async function dryRun(
  names: readonly string[],
  flags: ImportFlags,
  terminal: Terminal,
): Promise<void> {
  let rejected = 0;
  for (const file of await findFiles(names, '', terminal)) {
    const tally = new Tally();
    const source = createSource(file, flags, { tally, settledOffset: 0 });
    let timed = 0;
    let sendable = 0;
    const count = (events: ReturnType<EventSource['end']>) => {
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
      `${file.name}: ${toLineCount(sendable)} to send, ${timed} with a time of their own; ` +
        `${tally.rejected} to be rejected, ${tally.blank} blank\n`,
    );
  }
  if (rejected > 0) throw new CommandError(`${toLineCount(rejected)} could not be sent`);
}
