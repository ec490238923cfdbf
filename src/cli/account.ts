/** `weir account …`, and `weir whoami`. */
import type { Command } from 'commander';
import { toFields, toLimit } from './arguments.ts';
import type { OpenSession } from './session.ts';

const rateOption = '--events-per-second <n>';
const rateHelp = "quota over all of the account's receivers, or unlimited";

const whoamiExamples = `
Examples:
  weir whoami
  weir whoami --json | jq -r '.accounts[].accountId'`;

const examples = `
Examples:
  weir account create acme --events-per-second 5000
  weir account list
  weir account update <account-id> --events-per-second unlimited`;

export function addAccountCommands(program: Command, open: OpenSession): void {
  program
    .command('whoami')
    .description('show the scopes and accounts of the token in use')
    .addHelpText('after', whoamiExamples)
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.call<object>({ method: 'GET', path: ['whoami'] }));
    });

  const account = program
    .command('account')
    .description('accounts: who owns streams and receivers')
    .addHelpText('afterAll', examples);

  account
    .command('create')
    .description('create an account (scope operator)')
    .argument('<name>')
    .option(rateOption, rateHelp, toLimit)
    .action(async (name: string, options: object, command: Command) => {
      const { api, output } = open(command);
      const body = { name, ...toFields(options) };
      output.record(await api.call<object>({ method: 'POST', path: ['accounts'], body }));
    });

  account
    .command('list')
    .description('list the accounts that the token manages')
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      const answer = await api.call<Record<string, object[]>>({
        method: 'GET',
        path: ['accounts'],
      });
      output.list(answer, ['accountId', 'name', 'eventsPerSecond', 'createdAt']);
    });

  account
    .command('show')
    .description('show one account')
    .argument('<account-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.call<object>({ method: 'GET', path: ['accounts', id] }));
    });

  account
    .command('update')
    .description('rename an account or change its quota (the latter with scope operator)')
    .argument('<account-id>')
    .option('--name <name>', 'new name')
    .option(rateOption, rateHelp, toLimit)
    .action(async (id: string, options: object, command: Command) => {
      const { api, output } = open(command);
      const body = toFields(options);
      output.record(await api.call<object>({ method: 'PATCH', path: ['accounts', id], body }));
    });

  account
    .command('delete')
    .description('delete an account without streams and receivers (scope operator)')
    .argument('<account-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      await api.call({ method: 'DELETE', path: ['accounts', id] });
      output.done(`deleted account ${id}`);
    });
}
