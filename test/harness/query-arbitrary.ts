/** Random syntax trees of the query language. */
import fc from 'fast-check';
import { negated, type Pattern, type Query, type Test } from '../../src/query/parse.ts';

interface Choices {
  /** Of free words and phrases. */
  readonly words: fc.Arbitrary<string>;
  readonly keys: fc.Arbitrary<string>;
  readonly values: fc.Arbitrary<string>;
  readonly regexes: fc.Arbitrary<string>;
}

export function queryArbitrary({ words, keys, values, regexes }: Choices): fc.Arbitrary<Query> {
  const bound = fc.option(record({ value: values, isInclusive: fc.boolean() }), {
    nil: undefined,
  });
  const test = fc.oneof<fc.Arbitrary<Test>[]>(
    record({ op: fc.constant('is'), pattern: patternOf(values) }),
    record({ op: fc.constantFrom('<', '<=', '>', '>='), value: values }),
    record({ op: fc.constant('range'), from: bound, until: bound }),
    record({ op: fc.constant('regex'), regex: regexes }),
    fc.constant({ op: 'exists' }),
  );
  const field = record({ kind: fc.constant('field' as const), key: keys, test });
  const text = record({ kind: fc.constant('text' as const), pattern: patternOf(words) });
  return fc.letrec<{ query: Query }>((tie) => {
    const items = fc.array(tie('query'), { minLength: 2, maxLength: 4 });
    return {
      query: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        field,
        text,
        items.map((some) => joined('and', some)),
        items.map((some) => joined('or', some)),
        tie('query').map(negated),
      ),
    };
  }).query;
}

const record = <Model>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }) =>
  fc.record(model, { noNullPrototype: true });

function patternOf(pieces: fc.Arbitrary<string>): fc.Arbitrary<Pattern> {
  const wild = fc.array(pieces, { minLength: 2, maxLength: 3 });
  // A single * asks whether there is a value.
  const some = wild.filter((pattern) => pattern.length > 2 || pattern.join('') !== '');
  return fc.oneof({ weight: 3, arbitrary: pieces.map((piece) => [piece]) }, some);
}

function joined(kind: 'and' | 'or', items: readonly Query[]): Query {
  return { kind, items: items.flatMap((item) => (item.kind === kind ? item.items : [item])) };
}
