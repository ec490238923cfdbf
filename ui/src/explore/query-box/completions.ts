/** What the editor offers at the cursor: fields and labels, their values with counts, history. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import { toTarget } from '../../../../src/query/fields.ts';
import { readLiteral } from '../../../../src/query/parse.ts';
import { printKey, printValue } from '../../../../src/query/print.ts';
import { formatCount } from '../../parts/text/time-text.ts';
import { recentQueries } from './query-history.ts';

/** A field or label, by the key that queries use. */
export interface OfferedKey {
  readonly key: string;
  /** What it names, and how many logs have it. */
  readonly title: string;
}

export interface OfferedValue {
  readonly value: string;
  readonly count: number;
}

export interface Offers {
  readonly keys: () => Promise<readonly OfferedKey[]>;
  /** @param others the query without the term that is written */
  readonly values: (wanted: {
    readonly field: string;
    readonly prefix: string;
    readonly others: string;
  }) => Promise<readonly OfferedValue[]>;
}

const keySection = { name: 'Fields and labels', rank: 0 };
const recentSection = { name: 'Recent queries', rank: 1 };
const maxRecent = 8;

export async function complete(
  context: CompletionContext,
  offers: Offers,
): Promise<CompletionResult | null> {
  const place = placeOf(context);
  if (place === undefined) return null;
  try {
    return place.key === undefined
      ? await completeKey(place, context, offers)
      : await completeValue(place, context, offers);
  } catch {
    // The query itself reports that the service fails.
    return null;
  }
}

interface Place {
  /** Of what is written so far. */
  readonly from: number;
  /** Undefined where a key or a word begins. */
  readonly key: string | undefined;
  /** Of the whole term. */
  readonly termFrom: number;
  readonly isInList: boolean;
}

/** @returns undefined inside of ranges, phrases of messages and regular expressions */
function placeOf({ state, pos }: CompletionContext): Place | undefined {
  const before = syntaxTree(state).resolveInner(pos, -1);
  const comparison = ancestor(before, ['Comparison']);
  if (comparison !== undefined && before.name !== 'Key') {
    if (!['Value', 'Phrase', 'Operator', 'Open', 'Values', 'OrWord', '⚠'].includes(before.name)) {
      return undefined;
    }
    const keyNode = comparison.firstChild!;
    const written = state.sliceDoc(keyNode.from, keyNode.to);
    const isWriting = before.name === 'Value' || before.name === 'Phrase';
    return {
      from: isWriting ? before.from : pos,
      key: readLiteral(written),
      termFrom: (ancestor(comparison, ['Not']) ?? comparison).from,
      isInList: ancestor(before, ['Values']) !== undefined,
    };
  }
  // The grammar reads `error:` as a word until a value follows, and `"my key":` as two.
  const phrase = before.prevSibling?.name === 'Phrase' ? before.prevSibling : undefined;
  const termFrom = phrase?.to === before.from ? phrase.from : before.from;
  const label = before.name === 'Word' && /^(.+):$/s.exec(state.sliceDoc(termFrom, pos))?.[1];
  if (label) return { from: pos, key: readLiteral(label), termFrom, isInList: false };
  if (before.name === 'Key' || before.name === 'Word') {
    return { from: before.from, key: undefined, termFrom: before.from, isInList: false };
  }
  if (['Phrase', 'Regex'].includes(before.name)) return undefined;
  return { from: pos, key: undefined, termFrom: pos, isInList: false };
}

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>;

function ancestor(node: SyntaxNode, names: readonly string[]): SyntaxNode | undefined {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    if (names.includes(at.name)) return at;
  }
  return undefined;
}

async function completeKey(
  { from }: Place,
  { state, pos, explicit }: CompletionContext,
  offers: Offers,
): Promise<CompletionResult | null> {
  const written = state.sliceDoc(from, pos);
  if (written === '' && !explicit) return null;
  const options: Completion[] = (await offers.keys()).map(({ key, title }, index) => ({
    label: key,
    detail: title,
    apply: `${printKey(key)}:`,
    type: 'key',
    section: keySection,
    // In the order of the service.
    boost: -index / 10,
  }));
  if (state.doc.toString().trim() === '') {
    options.push(
      ...recentQueries()
        .slice(0, maxRecent)
        .map((label, index) => ({ label, type: 'recent', section: recentSection, boost: -index })),
    );
  }
  return { from, options, validFor: /^[\p{L}\p{N}_.@$/-]*$/u };
}

async function completeValue(
  { from, key, termFrom, isInList }: Place,
  { state, pos }: CompletionContext,
  offers: Offers,
): Promise<CompletionResult | null> {
  const target = toTarget(key!);
  if (target.kind === 'message') return null;
  const field = target.kind === 'label' ? `label.${target.key}` : target.field;
  const prefix = readLiteral(state.sliceDoc(from, pos).replace(/^"/, ''));
  const others = `${state.sliceDoc(0, termFrom)} ${state.sliceDoc(pos)}`.trim();
  const values = await offers.values({ field, prefix, others });
  const options = values
    .filter(({ value }) => value !== '')
    .map(({ value, count }) => ({
      label: value,
      detail: formatCount(count),
      apply: isInList ? printValue(value) : `${printValue(value)} `,
      type: 'value',
    }));
  // The service has filtered by the prefix, and counts give the order.
  return { from, options, filter: false };
}
