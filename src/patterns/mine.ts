/**
 * Finds the templates of masked messages, in the manner of Brain (Yu et al., "Brain: Log Parsing
 * with Bidirectional Parallel Tree", 2023). Messages of one shape, which differ in words alone,
 * begin as one group for each longest combination of words that occur equally often. A column of a
 * group whose words differ is a variable, unless they are few: these split the group. Pure.
 */
import { type Token, tokensOf } from './tokens.ts';
import { Turns } from './turns.ts';

export interface MaskedMessage {
  readonly masked: string;
  readonly count: number;
}

export interface Template {
  readonly columns: readonly Column[];
  /** Indexes of the messages; each message is a member of one template. */
  readonly members: readonly number[];
}

/** Masked texts at one place of the members. */
export interface Column {
  readonly texts: ReadonlySet<string>;
  readonly isVariable: boolean;
  readonly isSpace: boolean;
}

interface Line {
  readonly index: number;
  readonly tokens: readonly Token[];
  readonly count: number;
}

/** More words than this in a column make it a variable. */
const maxWords = 4;
/** As maxWords, for words that look like names: of files, hosts, classes. */
const maxNames = 2;
/** Words more frequent than those of the combination vary beyond this. */
const maxFrequentWords = 2;
/** A word of this share of the logs is no value, even where others have a value in its place. */
const usualShare = 0.97;

export async function mineTemplates(messages: readonly MaskedMessage[]): Promise<Template[]> {
  const turns = new Turns();
  const shapes = new Map<string, Line[]>();
  for (const [index, { masked, count }] of messages.entries()) {
    const tokens = tokensOf(masked);
    addTo(shapes, shapeOf(tokens), { index, tokens, count });
    if (turns.isOver(tokens.length)) await turns.next();
  }
  const templates: Template[] = [];
  for (const lines of shapes.values()) {
    for (const group of await equallyFrequent(lines, turns)) {
      templates.push(...(await split(group, turns)));
    }
  }
  return templates;
}

function shapeOf(tokens: readonly Token[]): string {
  return tokens.map(({ text, kind }) => (isFixed(kind) ? text[0] : 'w')).join('');
}

function isFixed(kind: Token['kind']): boolean {
  return kind === 'space' || kind === 'mark';
}

interface Group {
  readonly lines: readonly Line[];
  /** Columns that are variables whatever their words. */
  readonly variables: ReadonlySet<number>;
}

async function equallyFrequent(lines: readonly Line[], turns: Turns): Promise<Group[]> {
  const frequencies: Map<string, number>[] = [];
  for (const column of lines[0]!.tokens.keys()) {
    const counts = new Map<string, number>();
    for (const { tokens, count } of lines) {
      const { text } = tokens[column]!;
      counts.set(text, (counts.get(text) ?? 0) + count);
    }
    frequencies.push(counts);
    if (turns.isOver(lines.length)) await turns.next();
  }
  const groups = new Map<string, { lines: Line[]; frequency: number }>();
  for (const line of lines) {
    const { key, frequency } = longestCombination(line.tokens, frequencies);
    const group = groups.get(key) ?? { lines: [], frequency };
    groups.set(key, group);
    group.lines.push(line);
    if (turns.isOver(line.tokens.length)) await turns.next();
  }
  const found: Group[] = [];
  for (const group of groups.values()) {
    const variables = await frequentVariables(group, frequencies, turns);
    found.push({ lines: group.lines, variables });
  }
  return found;
}

/** Of combinations of one length the most frequent. */
function longestCombination(
  tokens: readonly Token[],
  frequencies: readonly ReadonlyMap<string, number>[],
) {
  const columns = new Map<number, number[]>();
  for (const [column, { text, kind }] of tokens.entries()) {
    if (kind === 'word') addTo(columns, frequencies[column]!.get(text)!, column);
  }
  let [frequency, longest]: [number, readonly number[]] = [0, []];
  for (const [other, combination] of columns) {
    const more = combination.length - longest.length;
    if (more > 0 || (more === 0 && other > frequency)) {
      [frequency, longest] = [other, combination];
    }
  }
  const words = longest.map((column) => `${column}:${tokens[column]!.text}`);
  return { frequency, key: `${frequency} ${words.join(' ')}` };
}

async function frequentVariables(
  { lines, frequency }: { readonly lines: readonly Line[]; readonly frequency: number },
  frequencies: readonly ReadonlyMap<string, number>[],
  turns: Turns,
): Promise<ReadonlySet<number>> {
  const variables = new Set<number>();
  for (const [column, counts] of frequencies.entries()) {
    const texts = [...wordsOf(lines, column).keys()];
    const isFrequent = (text: string) => counts.get(text)! > frequency;
    if (texts.length > maxFrequentWords && texts.some(isFrequent)) variables.add(column);
    if (turns.isOver(lines.length)) await turns.next();
  }
  return variables;
}

/** Lines by their word in a column. */
function wordsOf(lines: readonly Line[], column: number): Map<string, Line[]> {
  return Map.groupBy(lines, ({ tokens }) => tokens[column]!.text);
}

async function split({ lines, variables }: Group, turns: Turns): Promise<Template[]> {
  const [{ tokens }] = lines as readonly [Line];
  const columns: { readonly column: number; readonly words: Map<string, Line[]> }[] = [];
  for (const [column, { kind }] of tokens.entries()) {
    if (isFixed(kind) || variables.has(column)) continue;
    columns.push({ column, words: wordsOf(lines, column) });
    if (turns.isOver(lines.length)) await turns.next();
  }
  const varying = columns
    .filter(({ words }) => words.size > 1)
    .sort((a, b) => a.words.size - b.words.size);
  const found = new Set(variables);
  for (const { column, words } of varying) {
    if (isChoice(lines, column, words)) {
      const templates: Template[] = [];
      for (const part of words.values()) {
        templates.push(...(await split({ lines: part, variables: found }, turns)));
      }
      return templates;
    }
    found.add(column);
    if (turns.isOver(lines.length)) await turns.next();
  }
  return [await toTemplate(lines, found, turns)];
}

/** Whether the words of a column tell templates apart, rather than being values of one. */
function isChoice(
  lines: readonly Line[],
  column: number,
  words: ReadonlyMap<string, readonly Line[]>,
): boolean {
  if (lines.some(({ tokens }) => tokens[column]!.kind !== 'word')) {
    const [usual, ...more] = [...words.values()].filter(
      ([line]) => line!.tokens[column]!.kind === 'word',
    );
    const isOnly = usual !== undefined && more.length === 0;
    return isOnly && countOf(usual) >= usualShare * countOf(lines);
  }
  const names = [...words.keys()].filter((text) => /[/@\\_.-]/.test(text.slice(0, -1)));
  return words.size <= (names.length * 2 > words.size ? maxNames : maxWords);
}

function countOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { count }) => sum + count, 0);
}

async function toTemplate(
  lines: readonly Line[],
  variables: ReadonlySet<number>,
  turns: Turns,
): Promise<Template> {
  const [{ tokens }] = lines as readonly [Line];
  const columns: Column[] = [];
  for (const [column, { kind }] of tokens.entries()) {
    columns.push({
      texts: new Set(lines.map((line) => line.tokens[column]!.text)),
      isVariable: !isFixed(kind) && (kind !== 'word' || variables.has(column)),
      isSpace: kind === 'space',
    });
    if (turns.isOver(lines.length)) await turns.next();
  }
  return { columns, members: lines.map(({ index }) => index) };
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
