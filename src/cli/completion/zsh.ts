/** Completion for zsh. Pure. */
import { listValued, type Place, type PlaceOption, type Values } from './places.ts';

export function zshCompletion(places: readonly Place[]): string {
  return `#compdef weir
# zsh completion for weir
_weir() {
  local word at='' previous="\${words[CURRENT-1]}"
  local -i i
  local -a known
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$word" in
      (${listValued(places).join('|')}) ((i++)); continue ;;
    esac
    case "$at/$word" in
      (${places.slice(1).map(toKey).join('|')}) at="$at/$word" ;;
    esac
  done
  case "$at:$previous" in
${places.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${places.map(wordCase).join('\n')}
  esac
}
if [[ "$funcstack[1]" == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
`;
}

function toKey({ path }: Place): string {
  return path.map((name) => `/${name}`).join('');
}

function valueCases(place: Place): string[] {
  return place.options.flatMap((option) => {
    const { value } = option;
    if (value === undefined) return [];
    const patterns = namesOf(option).map((name) => `${toKey(place)}:${name}`);
    return [`    (${patterns.join('|')}) ${add(value)} return ;;`];
  });
}

function wordCase(place: Place): string {
  const { argument, commands, options } = place;
  const described = [
    ...commands.map(({ text, description }) => describe(text, description)),
    ...options.map(({ long, description }) => describe(long, description)),
  ];
  const choices = argument.kind === 'anything' ? '' : ` ${add(argument)}`;
  const key = toKey(place) || "''";
  return `    (${key}) known=(${described.join(' ')}); _describe -o weir known;${choices} ;;`;
}

function add(values: Values): string {
  switch (values.kind) {
    case 'choices':
      return `compadd -- ${values.choices.map(quote).join(' ')};`;
    case 'file':
      return '_files;';
    case 'folder':
      return '_files -/;';
    case 'anything':
      return '';
  }
}

function describe(word: string, description: string): string {
  return quote(`${word}:${description}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function namesOf({ long, short }: PlaceOption): string[] {
  return short === undefined ? [long] : [short, long];
}
