/** `weir send`: a message, or what another program prints, to a receiver. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { createLineReader, lineFormats, type LineReading } from './event-line.ts';
import { createLineSource } from './line-source.ts';
import { addSendingOptions, type EventFlags, toDefaults } from './options.ts';
import { toSendLine } from './progress-text.ts';
import { type EventSource, pump } from './pump.ts';
import { openShipping, type ShippingFlags } from './shipping.ts';
import type { Tally } from './tally.ts';
import { resolveTarget, type TargetFlags } from '../connection.ts';
import type { Terminal } from '../terminal.ts';

type SendFlags = EventFlags & ShippingFlags & TargetFlags;
type ReadLine = (text: string) => LineReading | undefined;

/** What one request holds at most; with a pause of this long, less. */
const limits = { maxEvents: 1000, maxBytes: 4 * 1024 * 1024, lingerMs: 200 };

const examples = `
A line that is a JSON object is an event with the fields of the JSON receiver; any other line is a
message. Blank lines are left out. Lines without a time of their own are stamped when they are
received, and read back in the order in which they were sent.

Examples:
  weir send 'deployed 4.2.0' --severity INFO --service deploy --label version:4.2.0
  journalctl -f -o cat | weir send --service kernel
  node app.js | weir send --service shop
`;

export function define(command: Command, terminal: Terminal): void {
  addSendingOptions(command, lineFormats)
    .argument('[message]', 'one message; without it, standard input')
    .addHelpText('after', examples)
    .action(async (message: string | undefined) => {
      const flags = command.optsWithGlobals<SendFlags>();
      const target = resolveTarget(flags, terminal.environment);
      const shipping = openShipping(terminal, target, {
        flags,
        toLine: toSendLine,
        goOnHint: '',
      });
      const { tally } = shipping;
      const read = createLineReader(flags.format, toDefaults(flags, hostname()));
      if (message === undefined && terminal.isInTty && !flags.quiet) {
        terminal.writeError('reading lines; Ctrl-D ends them\n');
      }
      const lanes = shipping.openLanes(() => randomUUID());
      const work =
        message === undefined
          ? pump(terminal.readIn, createLineSource({ read, tally }), lanes, {
              ...limits,
              stop: terminal.signal,
            })
          : pump(oneChunk(message), createMessageSource(read, tally), lanes, {
              ...limits,
              stop: terminal.signal,
            });
      await shipping.conclude(work);
    });
}

/** One message may have several lines. */
function createMessageSource(read: ReadLine, tally: Tally): EventSource {
  return {
    push(chunk) {
      const reading = read(chunk.toString());
      tally.read += 1;
      if (reading?.kind === 'event') return [{ ...reading, line: 1, endOffset: chunk.length }];
      tally.reject(1, reading?.reason ?? 'the message is blank');
      return [];
    },
    end: () => [],
  };
}

async function* oneChunk(message: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(message);
}
