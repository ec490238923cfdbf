/** `weir receiver …` */
import { type Command, Option } from 'commander';
import { receiverKinds } from '../model/account.ts';
import { collect, toFields, toLimit } from './arguments.ts';
import type { OpenSession } from './session.ts';

/** Besides these, the limits. */
interface ReceiverOptions {
  readonly name?: string;
  readonly kind?: string;
  readonly stream?: string;
  readonly allow?: readonly string[];
  readonly allowAny?: true;
  readonly inactive?: true;
}

const examples = `
Examples:
  weir receiver create checkout --kind http_json --stream <stream-id>
  weir receiver update <receiver-id> --events-per-second 1000 --allow 10.0.0.0/8
  weir receiver deactivate <receiver-id>`;

export function addReceiverCommands(program: Command, open: OpenSession): void {
  const receiver = program
    .command('receiver')
    .description('receivers: the addresses that senders send to')
    .addHelpText('afterAll', examples);

  addSettings(receiver.command('create'))
    .description('create a receiver; shows the exact URL to send to')
    .argument('<name>')
    .addOption(
      new Option('--kind <kind>', 'what it takes').choices(receiverKinds).makeOptionMandatory(),
    )
    .requiredOption('--stream <stream-id>', 'stream that it feeds')
    .option('--inactive', 'refuse data until it is activated')
    .action(async (name: string, options: ReceiverOptions, command: Command) => {
      const { api, output } = open(command);
      const body = toBody({ ...options, name });
      output.record(await api.callInAccount<object>({ method: 'POST', path: ['receivers'], body }));
    });

  receiver
    .command('list')
    .description("list the account's receivers")
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      const answer = await api.callInAccount<Record<string, object[]>>({
        method: 'GET',
        path: ['receivers'],
      });
      output.list(answer, ['receiverId', 'name', 'kind', 'active', 'streamId']);
    });

  receiver
    .command('show')
    .description('show one receiver and the exact URL to send to')
    .argument('<receiver-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.callInAccount<object>({ method: 'GET', path: ['receivers', id] }));
    });

  addChanges(receiver, open);
}

function addChanges(receiver: Command, open: OpenSession): void {
  const update = async (id: string, body: object, command: Command): Promise<void> => {
    const { api, output } = open(command);
    const path = ['receivers', id];
    output.record(await api.callInAccount<object>({ method: 'PATCH', path, body }));
  };

  addSettings(receiver.command('update'))
    .description('change what is given and leave the rest')
    .argument('<receiver-id>')
    .option('--name <name>', 'new name')
    .option('--stream <stream-id>', 'stream that it feeds from now on')
    .addOption(new Option('--allow-any', 'let any address send').conflicts('allow'))
    .action((id: string, options: ReceiverOptions, command: Command) =>
      update(id, toBody(options), command),
    );

  receiver
    .command('activate')
    .description('let a receiver take data')
    .argument('<receiver-id>')
    .action((id: string, _options: object, command: Command) =>
      update(id, { active: true }, command),
    );

  receiver
    .command('deactivate')
    .description('let a receiver refuse data')
    .argument('<receiver-id>')
    .action((id: string, _options: object, command: Command) =>
      update(id, { active: false }, command),
    );

  receiver
    .command('delete')
    .description('delete a receiver and revoke its tokens; its data stays in the stream')
    .argument('<receiver-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      await api.callInAccount({ method: 'DELETE', path: ['receivers', id] });
      output.done(`deleted receiver ${id}`);
    });
}

function addSettings(command: Command): Command {
  return command
    .option('--allow <cidr>', 'address range that may send; repeat it for more', collect)
    .option('--events-per-second <n>', 'quota, or unlimited', toLimit)
    .option('--burst-events <n>', 'events at once, or unlimited for ten seconds of rate', toLimit)
    .option('--max-body-bytes <n>', "largest body, or unlimited for the route's own cap", toLimit);
}

function toBody(options: ReceiverOptions): object {
  const { name, kind, stream, allow, allowAny, inactive, ...limits } = options;
  return {
    ...(name !== undefined && { name }),
    ...(kind !== undefined && { kind }),
    ...(stream !== undefined && { streamId: stream }),
    ...(allow && { allowedCidrs: allow }),
    ...(allowAny && { allowedCidrs: [] }),
    ...(inactive && { active: false }),
    ...(Object.keys(limits).length > 0 && { limits: toFields(limits) }),
  };
}
