/** `weir quarantine …`: batches that the store refused. */
import type { Command } from 'commander';
import type { openQuarantine } from '../maintenance/quarantine.ts';
import { messageOf } from '../std/error-text.ts';
import { createOutput } from './session.ts';
import { configOption, loadSettings, type SettingsFlags, toServeFlags } from './settings.ts';
import { CommandError, escapeControls, exitCodes, type Terminal } from './terminal.ts';

const notes = `
A batch that the store refuses for its content is quarantined, so that it does not block others.
Retry it when the cause is fixed: each row is stored once, even if some were stored before, and the
retry is its time of receipt. Batches on NATS can be retried and dropped while Weir runs. For
batches in a data directory, stop the service first; the next start stores retried batches.

Examples:
  weir quarantine list
  weir quarantine retry --all --data /var/lib/weir
  weir quarantine drop 5f0c29aa81d3e7b4-4711`;

type Quarantine = Awaited<ReturnType<typeof openQuarantine>>;
type QuarantineEntry = Awaited<ReturnType<Quarantine['list']>>[number];

interface Flags extends SettingsFlags {
  readonly json?: true;
  readonly all?: true;
}

export function define(quarantine: Command, terminal: Terminal): void {
  quarantine.addHelpText('afterAll', notes);
  quarantine
    .command('list')
    .description('list quarantined batches with the reason, oldest first')
    .option(...configOption)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using opened = await open(flags, terminal, 'look');
      const found = (await opened.quarantine.list()).map((each) => toRecord(each, flags));
      createOutput(terminal, flags).list({ batches: found }, columns);
    });

  for (const [name, description] of [
    ['retry', 'retry batches; each row is stored once'],
    ['drop', 'delete batches'],
  ] as const) {
    quarantine
      .command(name)
      .description(description)
      .argument('[id...]')
      .option('--all', 'all batches in quarantine')
      .option(...configOption)
      .action(async (ids: string[], _options: object, command: Command) => {
        await change(name, ids, { flags: command.optsWithGlobals<Flags>(), terminal });
      });
  }
}

const columns = [
  'id',
  'quarantinedAt',
  'rows',
  'bytes',
  'receiverId',
  'streamId',
  'retry',
  'reason',
];
/** In a table; JSON shows the whole reason. */
const maxReasonLength = 160;

async function change(
  name: 'retry' | 'drop',
  ids: readonly string[],
  { flags, terminal }: { readonly flags: Flags; readonly terminal: Terminal },
): Promise<void> {
  if ((ids.length === 0) === (flags.all === undefined)) {
    throw new CommandError('cannot choose batches: give ids, or --all', exitCodes.usage);
  }
  await using opened = await open(flags, terminal, 'change');
  const { quarantine, waitsForStart } = opened;
  const output = createOutput(terminal, flags);
  const done: string[] = [];
  const selected = flags.all ? await allOf(quarantine, name, terminal) : ids;
  for (const id of selected) {
    terminal.signal.throwIfAborted();
    try {
      await quarantine[name](id);
    } catch (error) {
      if (selected.length === 1) throw error;
      terminal.writeError(`weir: ${escapeControls(messageOf(error))}\n`);
      continue;
    }
    done.push(id);
    output.done(name === 'drop' ? `dropped ${id}` : `retried ${id}`);
  }
  if (flags.json) output.record({ [name === 'drop' ? 'dropped' : 'retried']: done });
  if (selected.length === 0) output.done('the quarantine is empty');
  else if (name === 'retry' && waitsForStart && done.length > 0) {
    output.done('they are stored when the service starts');
  }
  const count = selected.length;
  const failed = count - done.length;
  if (failed > 0) throw new CommandError(`cannot ${name} ${failed} of ${count}: see above`);
}

async function allOf(
  quarantine: Quarantine,
  name: 'retry' | 'drop',
  { writeError }: Terminal,
): Promise<string[]> {
  const found = await quarantine.list();
  if (name === 'drop') return found.map(({ id }) => id);
  for (const { id, batch } of found) {
    if (batch === undefined) writeError(`weir: ${id} is not a complete batch and is not retried\n`);
  }
  return found.filter(({ batch }) => batch !== undefined).map(({ id }) => id);
}

async function open(flags: Flags, terminal: Terminal, purpose: 'look' | 'change') {
  const config = loadSettings(toServeFlags(flags), terminal.environment);
  const { openQuarantine } = await import('../maintenance/quarantine.ts');
  const quarantine = await openQuarantine(config, purpose);
  return {
    quarantine,
    waitsForStart: config.queue.urls.length === 0,
    [Symbol.asyncDispose]: () => quarantine.close(),
  };
}

function toRecord({ batch, quarantinedAtMs, ...rest }: QuarantineEntry, { json }: Flags): object {
  const { id, bytes, reason, retry } = rest;
  const isLong = !json && reason.length > maxReasonLength;
  return {
    id,
    quarantinedAt: new Date(quarantinedAtMs).toISOString(),
    rows: batch?.rows ?? null,
    bytes,
    layout: batch?.layout ?? null,
    accountId: batch?.owner.accountId ?? null,
    streamId: batch?.owner.streamId ?? null,
    receiverId: batch?.owner.receiverId ?? null,
    retry,
    reason: isLong ? `${reason.slice(0, maxReasonLength)}…` : reason,
  };
}
