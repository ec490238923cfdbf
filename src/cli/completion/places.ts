/** The program as a shell needs to know it: at each command, which words may follow. Pure. */
import type { Argument, Command, Option } from 'commander';

/** A command, and all that may be typed after it. */
export interface Place {
  /** Names of the commands that lead there, without the program; empty = the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  readonly options: readonly PlaceOption[];
  /** What its arguments may be. */
  readonly argument: Values;
}

export interface Word {
  readonly text: string;
  readonly description: string;
}

export interface PlaceOption {
  /** Such as `--limit`. */
  readonly long: string;
  /** Such as `-n`. */
  readonly short: string | undefined;
  readonly description: string;
  /** Undefined = it takes none. */
  readonly value: Values | undefined;
}

export type Values =
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'file' | 'folder' | 'anything' };

/** @returns the program first, then its commands in the order of the help. */
export function listPlaces(program: Command): readonly Place[] {
  return placesBelow(program, [], program.options.map(toPlaceOption));
}

/** @returns the options of all places that take a value, with both of their names. */
export function listValued(places: readonly Place[]): readonly string[] {
  const names = places.flatMap(({ options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .flatMap(({ long, short }) => (short === undefined ? [long] : [short, long])),
  );
  return [...new Set(names)];
}

function placesBelow(
  command: Command,
  path: readonly string[],
  global: readonly PlaceOption[],
): Place[] {
  const own = path.length === 0 ? [] : command.options.map(toPlaceOption);
  const help = { long: '--help', short: '-h', description: 'show help', value: undefined };
  return [
    {
      path,
      commands: command.commands.map((below) => ({
        text: below.name(),
        description: below.description(),
      })),
      options: [...own, ...global, help],
      argument: toArgument(command.registeredArguments[0]),
    },
    ...command.commands.flatMap((below) => placesBelow(below, [...path, below.name()], global)),
  ];
}

function toPlaceOption({ long, short, flags, description, argChoices }: Option): PlaceOption {
  const placeholder = /[<[](.+)[>\]]/.exec(flags)?.[1];
  return {
    // Commander has a single long name in `long`, and the program gives each option one.
    long: long ?? flags,
    short,
    description,
    value: placeholder === undefined ? undefined : toValues(placeholder, argChoices),
  };
}

function toArgument(argument: Argument | undefined): Values {
  return toValues(argument?.name() ?? '', argument?.argChoices);
}

/** What is asked for is said by the placeholder of the help. */
function toValues(placeholder: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { kind: 'choices', choices };
  if (placeholder.includes('file')) return { kind: 'file' };
  if (placeholder.includes('dir')) return { kind: 'folder' };
  return { kind: 'anything' };
}
