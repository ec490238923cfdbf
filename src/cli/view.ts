/** `weir view …`: searches that were saved in the explorer. */
import type { Command } from 'commander';
import type { OpenSession } from './session.ts';

const examples = `
Examples:
  weir view list
  weir view show <view-id>
  weir view delete <view-id>`;

export function addViewCommands(program: Command, open: OpenSession): void {
  const view = program
    .command('view')
    .description('views: searches saved in the explorer')
    .addHelpText('afterAll', examples);

  view
    .command('list')
    .description("list the account's saved views")
    .action(async (_options: object, command: Command) => {
      const { api, output } = open(command);
      const answer = await api.callInAccount<Record<string, object[]>>({
        method: 'GET',
        path: ['views'],
      });
      output.list(answer, ['viewId', 'name', 'query', 'updatedAt']);
    });

  view
    .command('show')
    .description('show one saved view')
    .argument('<view-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      output.record(await api.callInAccount<object>({ method: 'GET', path: ['views', id] }));
    });

  view
    .command('delete')
    .description('delete a saved view')
    .argument('<view-id>')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, output } = open(command);
      await api.callInAccount({ method: 'DELETE', path: ['views', id] });
      output.done(`deleted view ${id}`);
    });
}
