/** `weir completion <shell>`: what a shell needs to complete commands, options and choices. */
import { Argument, type Command } from 'commander';
import { bashCompletion } from './completion/bash.ts';
import { fishCompletion } from './completion/fish.ts';
import { listPlaces, type Place } from './completion/places.ts';
import { zshCompletion } from './completion/zsh.ts';
import type { Terminal } from './terminal.ts';

const scripts = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Record<string, (places: readonly Place[]) => string>;
type Shell = keyof typeof scripts;

const examples = `
Set it up:
  bash  echo 'source <(weir completion bash)' >> ~/.bashrc
  zsh   weir completion zsh > "\${fpath[1]}/_weir"
  fish  weir completion fish > ~/.config/fish/completions/weir.fish`;

export function addCompletionCommand(program: Command, { writeOut }: Terminal): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', examples)
    .action((shell: Shell) => writeOut(scripts[shell](listPlaces(program))));
}
