/** `weir token …`; `weir token recover` stands in a file of its own. */
import { type Command, Option } from 'commander';
import { accessScopes } from '../model/account.ts';
import { collect, type lifted, toFields, toTime } from './arguments.ts';
import type { OpenSession } from './session.ts';
import { CommandError, exitCodes } from './terminal.ts';

interface NewTokenOptions {
  readonly receiver?: string;
  readonly scope?: readonly string[];
  readonly forAccount?: readonly string[];
  readonly allAccounts?: true;
  readonly expiresAt?: string | typeof lifted;
}

const examples = `
Examples:
  weir token create checkout --receiver <receiver-id>
  weir token create grafana --scope logs:read --scope analytics:read --expires-at 2028-01-01
  weir token rotate <token-id>`;

/** @returns the command `token`, for more to be added. */
export function addTokenCommands(program: Command, open: OpenSession): Command {
  const token = program
    .command('token')
    .description('tokens: what senders and readers show')
    .addHelpText('afterAll', examples);

  token
    .command('create')
    .description('create a token for a receiver (--receiver) or for reading and managing (--scope)')
    .argument('<name>')
    .option('--receiver <receiver-id>', 'receiver that it may send to')
    .option('--scope <scope>', `${accessScopes.join(', ')}; repeat it for more`, collect)
    .option('--for-account <uuid>', 'account that it opens; repeat it for more', collect)
    .addOption(
      new Option('--all-accounts', 'open every account (with --scope operator)').conflicts(
        'forAccount',
      ),
    )
    .option('--expires-at <time>', 'when it stops working', toTime)
    .action(async (name: string, options: NewTokenOptions, command: Command) => {
      const { api, output } = open(command);
      const body = toBody(name, options);
      output.record(await api.callInAccount<object>({ method: 'POST', path: ['tokens'], body }));
    });

  token
    .command('list')
    .description("list the account's tokens")
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      const answer = await api.callInAccount<Record<string, object[]>>({
        method: 'GET',
        path: ['tokens'],
      });
      const held = ['tokenId', 'name', 'type', 'scopes', 'allAccounts'];
      const columns = [...held, 'expiresAt', 'revokedAt', 'lastUsedAt'];
      output.list(answer, columns);
    });

  addChanges(token, open);
  return token;
}

function addChanges(token: Command, open: OpenSession): void {
  token
    .command('show')
    .description('show one token, without its secret')
    .argument('<token-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.callInAccount<object>({ method: 'GET', path: ['tokens', id] }));
    });

  token
    .command('update')
    .description('rename a token or change when it expires')
    .argument('<token-id>')
    .option('--name <name>', 'new name')
    .option('--expires-at <time>', 'when it stops working, or never', toTime)
    .action(async (id: string, options: object, command: Command) => {
      const { api, output } = open(command);
      const body = toFields(options);
      output.record(
        await api.callInAccount<object>({ method: 'PATCH', path: ['tokens', id], body }),
      );
    });

  const changes = {
    rotate: 'replace the secret: the old one stops working, the new one is shown once',
    revoke: 'stop a token for good',
  };
  for (const [name, description] of Object.entries(changes)) {
    token
      .command(name)
      .description(description)
      .argument('<token-id>')
      .action(async (id: string, _options: object, command: Command) => {
        const { api, output } = open(command);
        const path = ['tokens', id, name];
        output.record(await api.callInAccount<object>({ method: 'POST', path }));
      });
  }

  token
    .command('delete')
    .description('stop a token and forget it')
    .argument('<token-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      await api.callInAccount({ method: 'DELETE', path: ['tokens', id] });
      output.done(`deleted token ${id}`);
    });
}

function toBody(name: string, options: NewTokenOptions): object {
  const { receiver, scope, forAccount, allAccounts, expiresAt } = options;
  const expiry = expiresAt === undefined ? {} : toFields({ expiresAt });
  if (receiver !== undefined && (scope ?? forAccount ?? allAccounts) === undefined) {
    return { type: 'ingest', name, receiverId: receiver, ...expiry };
  }
  if (receiver === undefined && scope !== undefined) {
    const accountIds = allAccounts ? [] : forAccount;
    return { type: 'access', name, scopes: scope, ...(accountIds && { accountIds }), ...expiry };
  }
  throw new CommandError(
    'cannot tell what the token is for: give either --receiver, or --scope and its accounts',
    exitCodes.usage,
  );
}
