/** `weir ship`: follows log files and the journal, and sends what is written to them. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { RE2JS } from 're2js';
import { lockDirectory } from '../../files/directory-lock.ts';
import { messageOf } from '../../std/error-text.ts';
import { resolveTarget, type TargetFlags } from '../connection.ts';
import { collect } from '../arguments.ts';
import { type OutgoingEvent, toBatch } from '../sending/batcher.ts';
import { createLineReader, lineFormats, readObject } from '../sending/event-line.ts';
import { countReading } from '../sending/lines.ts';
import { addSendingOptions, type EventFlags, toDefaults } from '../sending/options.ts';
import { toSendLine } from '../sending/progress.ts';
import { openShipping, type Shipping, type ShippingFlags } from '../sending/shipping.ts';
import { CommandError, exitCodes, type Terminal } from '../terminal.ts';
import { type Checkpoints, type FilePosition, openCheckpoints } from './checkpoints.ts';
import { followFiles } from './follow-files.ts';
import { shipJournal } from './journal.ts';
import type { FileOptions, Send } from './ship-file.ts';
import { type ContainerFormat, type JoinedLine, kubernetesLabels } from './shipped-line.ts';

interface ShipFlags extends EventFlags, Omit<ShippingFlags, 'giveUpAfter'>, TargetFlags {
  readonly state: string;
  readonly container: ContainerFormat;
  readonly startsWith?: RE2JS;
  readonly fromEnd?: true;
  readonly journal?: true;
  readonly unit?: readonly string[];
  readonly once?: true;
}

const lingerMs = 1000;
/** Patterns look no further. */
const maxSearchedLength = 4096;

const examples = `
Positions are kept in the folder given by --state: after a restart or a crash the command resumes
from them, and events that are sent again are stored once.

Examples:
  weir ship '/var/log/nginx/*.log' --service nginx --state /var/lib/weir-ship
  weir ship /var/log/app.log --starts-with '^\\d{4}-\\d\\d-\\d\\d'
  weir ship '/var/log/pods/*/*/*.log' --container cri
  weir ship '/var/lib/docker/containers/*/*-json.log' --container docker
  weir ship --journal --unit ssh.service`;

export function define(command: Command, terminal: Terminal): void {
  addSendingOptions(command, lineFormats)
    .argument('[file...]', 'files or patterns such as /var/log/app/*.log')
    .option('--state <folder>', 'folder of the positions', './weir-ship')
    .addOption(
      new Option('--container <format>', 'format of the log files of containers')
        .choices(['none', 'docker', 'cri'])
        .default('none'),
    )
    .option(
      '--starts-with <pattern>',
      'RE2 pattern of the first line of an event; lines that do not match continue it',
      toPattern,
    )
    .option('--from-end', 'skip what files contain when they are first seen')
    .option('--journal', 'read the journal of systemd')
    .option('--unit <unit>', 'only this unit of the journal; repeat it for more', collect)
    .option('--once', 'end once everything is sent')
    .addHelpText('after', examples)
    .action(async (patterns: string[]) => {
      const flags = command.optsWithGlobals<ShipFlags>();
      if (patterns.length === 0 && !flags.journal) {
        throw new CommandError('nothing to ship: give files or --journal', exitCodes.usage);
      }
      await ship(patterns, flags, terminal);
    });
}

async function ship(patterns: readonly string[], flags: ShipFlags, terminal: Terminal) {
  const target = resolveTarget(flags, terminal.environment);
  const lock = lockState(flags.state);
  const checkpoints = openCheckpoints(flags.state);
  const shipping = openShipping(terminal, target, {
    flags: { ...flags, giveUpAfter: 0 },
    toLine: toSendLine,
    resumeHint: '; start it again to resume',
  });
  const failure = new AbortController();
  const stop = AbortSignal.any([terminal.signal, failure.signal]);
  const send = createSend(shipping, target.url.href);
  const parts = { flags, terminal, shipping, checkpoints, send, stop };
  const fromEnd = flags.fromEnd === true;
  const work = [
    ...(patterns.length > 0
      ? [followFiles(patterns, { checkpoints, fromEnd, stop }, toFileOptions(parts))]
      : []),
    ...(flags.journal ? [followJournal(parts)] : []),
  ].map((one) =>
    one.catch((error: unknown) => {
      failure.abort();
      throw error;
    }),
  );
  try {
    await shipping.conclude(Promise.all(work).then(() => undefined));
  } finally {
    checkpoints.save();
    lock.release();
  }
}

/** @throws CommandError when another process uses the folder */
function lockState(folder: string): ReturnType<typeof lockDirectory> {
  mkdirSync(folder, { recursive: true });
  try {
    return lockDirectory(folder);
  } catch (cause) {
    throw new CommandError(
      `cannot use ${folder}: another weir ship does (${messageOf(cause)}); give another --state`,
    );
  }
}

/** The key of a request is its receiver, origin and content, which a repetition has in common. */
function createSend(shipping: Shipping, url: string): Send {
  return async (events, origin) => {
    const dispatcher = shipping.openDispatcher((batch, body) => {
      // The halves of a batch may have the same content.
      const place = `${url}\n${origin}\n${batch.events[0]?.endOffset ?? 0}\n`;
      return createHash('sha256').update(place).update(body).digest('base64url');
    });
    await dispatcher.send(toBatch(events));
    await dispatcher.settle();
  };
}

interface ShipParts {
  readonly flags: ShipFlags;
  readonly terminal: Terminal;
  readonly shipping: Shipping;
  readonly checkpoints: Checkpoints;
  readonly send: Send;
  readonly stop: AbortSignal;
}

function toFileOptions({ flags, terminal, shipping, send }: ShipParts): FileOptions {
  const { startsWith, container } = flags;
  const read = createLineReader(flags.format, toDefaults(flags, hostname()));
  const { tally } = shipping;
  return {
    format: container,
    start: startsWith && ((text) => startsWith.matcher(text.slice(0, maxSearchedLength)).find()),
    toEvents: (line, position) => {
      const place = { line: line.number, endOffset: line.end, where: whereOf(line, position) };
      return countReading(withContainer(read(line.text), line, position.path), place, tally);
    },
    send,
    lingerMs,
    isEnding: flags.once === true,
    warn: (sentence) => terminal.writeError(`weir: ${sentence}\n`),
  };
}

function whereOf({ number, from }: JoinedLine, { path, lines }: FilePosition): string {
  return lines === undefined ? `${path} at byte ${from}` : `${path}:${lines + number}`;
}

/** Appends time, stream and pod, unless the event has them. */
function withContainer(
  reading: ReturnType<ReturnType<typeof createLineReader>>,
  { time, stream }: JoinedLine,
  path: string,
) {
  if (reading?.kind !== 'event') return reading;
  const members = [
    ...(time !== undefined && !reading.isTimed ? [['timestamp', time] as const] : []),
    ...(stream === undefined ? [] : [['stream', stream] as const]),
    ...kubernetesLabels(path),
  ];
  const added = members.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return {
    ...reading,
    json: `${reading.json.slice(0, -1)}${added.join('')}}`,
    isTimed: reading.isTimed || time !== undefined,
  };
}

function followJournal({ flags, terminal, shipping, checkpoints, send, stop }: ShipParts) {
  const defaults = toDefaults(flags, hostname());
  return shipJournal(checkpoints, {
    program: terminal.environment['WEIR_JOURNALCTL'] ?? 'journalctl',
    isFollowing: flags.once !== true,
    fromEnd: flags.fromEnd === true,
    units: flags.unit ?? [],
    toEvents: (event, line): OutgoingEvent[] => {
      const reading = readObject(
        event as Readonly<Record<string, unknown>>,
        JSON.stringify(event),
        defaults,
      );
      return countReading(reading, { line, endOffset: line }, shipping.tally);
    },
    send,
    lingerMs,
    stop,
  });
}

function toPattern(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new InvalidArgumentError(`Give an RE2 pattern: ${messageOf(error)}.`);
  }
}
