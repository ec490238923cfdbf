/** Completion for bash 3.2 and newer, since macOS has no other. Pure. */
import { listValued, type Place, type PlaceOption, type Values } from './places.ts';

/** Words of commands and choices at once; options as soon as a dash is typed. */
export function bashCompletion(places: readonly Place[]): string {
  return `# bash completion for weir
_weir() {
  local word i at='' words='' options=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      ${listValued(places).join('|')}) ((i++)); continue ;;
    esac
    case "$at/$word" in
      ${places.slice(1).map(toKey).join('|')}) at="$at/$word" ;;
    esac
  done
  case "$at:$previous" in
${valueCases(places).join('\n')}
  esac
  case "$at" in
${places.map(wordCase).join('\n')}
  esac
  [[ "$current" == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _weir weir
`;
}

function toKey({ path }: Place): string {
  return path.map((name) => `/${name}`).join('');
}

/** One case for all options that are completed alike. */
function valueCases(places: readonly Place[]): string[] {
  const patterns = new Map<string, string[]>();
  for (const place of places) {
    for (const option of place.options) {
      if (option.value === undefined) continue;
      const action = reply(option.value);
      const ofPlace = namesOf(option).map((name) => `${toKey(place)}:${name}`);
      patterns.set(action, [...(patterns.get(action) ?? []), ...ofPlace]);
    }
  }
  return [...patterns].map(([action, all]) => `    ${all.join('|')}) ${action}return ;;`);
}

function wordCase(place: Place): string {
  const { argument, commands, options } = place;
  const choices = argument.kind === 'choices' ? argument.choices : [];
  const words = [...commands.map(({ text }) => text), ...choices];
  const files = argument.kind === 'file' ? ` ${reply(argument)}` : '';
  const assigned = `words='${words.join(' ')}' options='${options.flatMap(namesOf).join(' ')}';`;
  return `    ${toKey(place) || "''"}) ${assigned}${files} ;;`;
}

/** Older versions of bash have no compopt, and then complete nothing. */
function reply(values: Values): string {
  switch (values.kind) {
    case 'choices':
      return `COMPREPLY=($(compgen -W '${values.choices.join(' ')}' -- "$current")); `;
    case 'file':
      return 'compopt -o default 2>/dev/null; ';
    case 'folder':
      return 'compopt -o dirnames 2>/dev/null; ';
    case 'anything':
      return '';
  }
}

function namesOf({ long, short }: PlaceOption): string[] {
  return short === undefined ? [long] : [short, long];
}
