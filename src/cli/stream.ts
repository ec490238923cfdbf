/** `weir stream …` */
import type { Command } from 'commander';
import { toInteger } from './arguments.ts';
import type { OpenSession } from './session.ts';

const retentionOption = '--retention-days <n>';
const retentionHelp = 'days that data is kept, counted from its receipt';

const examples = `
Examples:
  weir stream create checkout --retention-days 30
  weir stream list
  weir stream delete-data <stream-id>`;

export function addStreamCommands(program: Command, open: OpenSession): void {
  const stream = program
    .command('stream')
    .description('streams: where logs are kept and read')
    .addHelpText('afterAll', examples);

  stream
    .command('create')
    .description('create a stream')
    .argument('<name>')
    .option(retentionOption, retentionHelp, toInteger)
    .action(async (name: string, options: object, command: Command) => {
      const { api, output } = open(command);
      const body = { name, ...options };
      output.record(await api.callInAccount<object>({ method: 'POST', path: ['streams'], body }));
    });

  stream
    .command('list')
    .description("list the account's streams")
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      const answer = await api.callInAccount<Record<string, object[]>>({
        method: 'GET',
        path: ['streams'],
      });
      output.list(answer, ['streamId', 'name', 'retentionDays', 'createdAt']);
    });

  stream
    .command('show')
    .description('show one stream')
    .argument('<stream-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.callInAccount<object>({ method: 'GET', path: ['streams', id] }));
    });

  stream
    .command('update')
    .description('rename a stream or change its retention')
    .argument('<stream-id>')
    .option('--name <name>', 'new name')
    .option(retentionOption, retentionHelp, toInteger)
    .action(async (id: string, body: object, command: Command) => {
      const { api, output } = open(command);
      output.record(
        await api.callInAccount<object>({ method: 'PATCH', path: ['streams', id], body }),
      );
    });

  addDeletions(stream, open);
}

function addDeletions(stream: Command, open: OpenSession): void {
  stream
    .command('delete-data')
    .description('delete everything a stream has received so far; reads hide it at once')
    .argument('<stream-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(
        await api.callInAccount<object>({ method: 'DELETE', path: ['streams', id, 'data'] }),
      );
    });

  stream
    .command('delete')
    .description('delete a stream that no receiver feeds, and its data')
    .argument('<stream-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      await api.callInAccount({ method: 'DELETE', path: ['streams', id] });
      output.done(`deleted stream ${id}`);
    });
}
