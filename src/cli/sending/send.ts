/** `weir send`: a message, or the lines of standard input, to a receiver. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { resolveTarget, type TargetFlags } from '../connection.ts';
import type { Terminal } from '../terminal.ts';
import { createLineReader, lineFormats } from './event-line.ts';
import { countReading, createLineSource } from './lines.ts';
import { addGiveUpOption, addSendingOptions, type EventFlags, toDefaults } from './options.ts';
import { toSendLine } from './progress.ts';
import { pump } from './pump.ts';
import { openShipping, type ShippingFlags } from './shipping.ts';

type SendFlags = EventFlags & ShippingFlags & TargetFlags;

const limits = { maxEvents: 1000, maxBytes: 4 * 1024 * 1024, lingerMs: 200 };

const examples = `
A line that is a JSON object is an event with the fields of the JSON receiver; any other line is a
message. Blank lines are skipped. Lines without a time get the time of receipt and are
read in the order in which they were sent.

Examples:
  weir send 'deployed 4.2.0' --severity INFO --service deploy --label version:4.2.0
  journalctl -f -o cat | weir send --service kernel
  node app.js | weir send --service shop
`;

export function define(command: Command, terminal: Terminal): void {
  addGiveUpOption(addSendingOptions(command, lineFormats))
    .argument('[message]', 'a message; default: the lines of standard input')
    .addHelpText('after', examples)
    .action(async (message: string | undefined) => {
      const flags = command.optsWithGlobals<SendFlags>();
      const target = resolveTarget(flags, terminal.environment);
      const shipping = openShipping(terminal, target, {
        flags,
        toLine: toSendLine,
        resumeHint: '',
      });
      const { tally } = shipping;
      const read = createLineReader(flags.format, toDefaults(flags, hostname()));
      const dispatcher = shipping.openDispatcher(() => randomUUID());
      const options = { ...limits, stop: terminal.signal };
      if (message === undefined) {
        if (terminal.isInTty && !flags.quiet) {
          terminal.writeError('reading lines until Ctrl-D\n');
        }
        const source = createLineSource(read, { tally });
        await shipping.conclude(pump(terminal.readIn, source, dispatcher, options));
        return;
      }
      // The message is one event, even if it has several lines.
      const blank = { kind: 'fault', reason: 'the message is blank' } as const;
      const place = { line: 1, endOffset: Buffer.byteLength(message) };
      const events = countReading(read(message) ?? blank, place, tally);
      const source = { push: () => events, end: () => [] };
      await shipping.conclude(pump(oneChunk(message), source, dispatcher, options));
    });
}

async function* oneChunk(message: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(message);
}
