/** Shell completion: `weir completion <shell>` prints a script that asks `weir __complete`. */
import { Argument, type Command, type Option } from 'commander';
import type { Terminal } from './terminal.ts';

/** `weir __complete` prints a word and its description per line, or `:file` or `:folder`. */
const scripts: Readonly<Record<string, string>> = {
  // bash 3.2 of macOS has no compopt and completes no paths.
  bash: String.raw`# bash completion for weir
_weir() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :file) compopt -o default 2>/dev/null ;;
      :folder) compopt -o dirnames 2>/dev/null ;;
      *) COMPREPLY+=("\${line%%$'\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _weir weir
`,
  zsh: String.raw`#compdef weir
# zsh completion for weir
_weir() {
  local line
  local -a known
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      :file) _files ;;
      :folder) _files -/ ;;
      ?*) known+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}") ;;
    esac
  done
  (( $#known )) && _describe -o weir known
}
if [[ "$funcstack[1]" == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
`,
  fish: String.raw`# fish completion for weir
function __weir_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$current"
            case :folder
                __fish_complete_directories "$current" ''
            case '*'
                echo -- $line
        end
    end
end
complete -c weir -f -a '(__weir_complete)'
`,
};

const examples = `
Set it up:
  bash  echo 'source <(weir completion bash)' >> ~/.bashrc
  zsh   weir completion zsh > "\${fpath[1]}/_weir"
  fish  weir completion fish > ~/.config/fish/completions/weir.fish`;

export function define(command: Command, { writeOut }: Terminal): void {
  command
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', examples)
    // String.raw keeps the backslash that escapes `${`.
    .action((shell: string) => writeOut(scripts[shell]!.replaceAll('\\${', '${')));
}

/**
 * @param words after the program's name; the last is completed, empty for a new one.
 * @returns lines for the scripts.
 */
export function complete(program: Command, words: readonly string[]): string {
  const typed = words.at(-1) ?? '';
  let command = program;
  let pending: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    const option = optionsOf(command).find(({ long, short }) => [long, short].includes(word));
    if (option !== undefined) pending = option.isBoolean() ? undefined : option;
    else command = command.commands.find((below) => below.name() === word) ?? command;
  }
  const [argument] = command.registeredArguments;
  const offered =
    pending !== undefined
      ? toValues(pending.flags, pending.argChoices)
      : typed.startsWith('-')
        ? optionsOf(command).map(({ long, description }) => `${long ?? ''}\t${description}`)
        : [
            ...command.commands.map((below) => `${below.name()}\t${below.description()}`),
            ...toValues(argument?.name() ?? '', argument?.argChoices),
          ];
  return offered
    .filter((line) => line.startsWith(typed) || line.startsWith(':'))
    .map((line) => `${line}\n`)
    .join('');
}

function optionsOf(command: Command): readonly Option[] {
  const help = command.createOption('-h, --help', 'show help');
  const shared = command.parent === null ? [] : optionsOf(command.parent).slice(0, -1);
  return [...command.options, ...shared, help];
}

/** @param placeholder of the help: `<file>` and `<dir>` ask for paths. */
function toValues(placeholder: string, choices: readonly string[] | undefined): string[] {
  if (choices !== undefined) return choices.map((choice) => `${choice}\t`);
  if (/[<[].*file/.test(placeholder) || placeholder === 'file') return [':file'];
  return /dir/.test(placeholder) ? [':folder'] : [];
}
