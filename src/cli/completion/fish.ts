/** Completion for fish. Pure. */
import { listValued, type Place, type PlaceOption, type Values } from './places.ts';

export function fishCompletion(places: readonly Place[]): string {
  return `# fish completion for weir
function __weir_at
    set -l at
    set -l isValue 0
    for word in (commandline -opc)[2..-1]
        if test $isValue = 1
            set isValue 0
        else if contains -- $word ${listValued(places).join(' ')}
            set isValue 1
        else if contains -- (string join -- ' ' $at $word) ${knownPaths(places)}
            set -a at $word
        end
    end
    test "$at" = "$argv"
end
complete -c weir -f
${places.flatMap(lines).join('\n')}
`;
}

function knownPaths(places: readonly Place[]): string {
  return places
    .slice(1)
    .map(({ path }) => quote(path.join(' ')))
    .join(' ');
}

function lines({ path, commands, options, argument }: Place): string[] {
  const start = `complete -c weir -n ${quote(['__weir_at', ...path].join(' '))}`;
  const after = valuesOf(argument, 'argument');
  return [
    ...commands.map(
      ({ text, description }) => `${start} -a ${quote(text)} -d ${quote(description)}`,
    ),
    ...(after === '' ? [] : [`${start}${after}`]),
    ...options.map((option) => `${start}${optionOf(option)}`),
  ];
}

function optionOf({ long, short, description, value }: PlaceOption): string {
  const shortName = short === undefined ? '' : ` -s ${short.slice(1)}`;
  const values = value === undefined ? '' : valuesOf(value, 'option');
  return ` -l ${long.slice(2)}${shortName}${values} -d ${quote(description)}`;
}

function valuesOf(values: Values, of: 'option' | 'argument'): string {
  const required = of === 'option' ? ' -r' : '';
  switch (values.kind) {
    case 'choices':
      return `${required} -a ${quote(values.choices.join(' '))}`;
    case 'file':
      return `${required} -F`;
    case 'folder':
      return `${required} -a '(__fish_complete_directories)'`;
    case 'anything':
      return required;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
