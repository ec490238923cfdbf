/** Random text pushes: valid ones read back bit for bit, invalid ones are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/model/errors.ts';
import type { TextFormat } from '../../src/protocols/prom-text/prom-text.ts';
import { labelLimits, nowMs, push } from './push-text.ts';

interface RandomSample {
  readonly metric: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly value: number;
  /** Unix ms; undefined = no timestamp. */
  readonly timeMs: number | undefined;
}

const plainName = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,8}$/);
const anyName = fc.oneof(plainName, fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }));
const labels = fc
  .dictionary(anyName, fc.string({ unit: 'grapheme', maxLength: 8 }), {
    maxKeys: labelLimits.maxLabels - 1,
    noNullPrototype: true,
  })
  .map((record) => Object.entries(record).filter(([name]) => !name.startsWith('__')));
const value = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 0.1, 5e-324, Number.MAX_VALUE, NaN, Infinity, -Infinity),
);
const timeMs = fc.option(fc.integer({ min: -1e12, max: 4e12 }), { nil: undefined });
const samples: fc.Arbitrary<RandomSample[]> = fc
  .array(
    fc.record({
      metric: anyName,
      points: fc.array(fc.record({ labels, value, timeMs }), { maxLength: 4 }),
    }),
    { maxLength: 5 },
  )
  .map((families) => {
    const named = families.filter(({ metric }, index) => {
      return families.findIndex((other) => other.metric === metric) === index;
    });
    return named.flatMap(({ metric, points }) => points.map((point) => ({ metric, ...point })));
  });

/** As stored: without empty values, sorted by bytes. */
function canonical({ metric, labels: own }: RandomSample): [string, string][] {
  const said = own.filter(([, text]) => text !== '').map(([name, text]) => [name, text] as const);
  return ([['__name__', metric], ...said] as [string, string][]).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
}

function withoutRepeats(all: readonly RandomSample[]): RandomSample[] {
  const seen = new Set<string>();
  return all.filter((sample) => {
    const key = JSON.stringify([canonical(sample), sample.timeMs ?? nowMs]);
    return !seen.has(key) && seen.add(key);
  });
}

const quote = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

function toNumberText(number: number): string {
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return number > 0 ? '+Inf' : '-Inf';
  return Object.is(number, -0) ? '-0' : String(number);
}

function toLine(sample: RandomSample, format: TextFormat): string {
  const { metric, labels: own, value: number } = sample;
  const time = sample.timeMs;
  const isPlain = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(metric);
  const pairs = own.map(([name, text]) => {
    return `${/^[a-zA-Z_]\w*$/.test(name) ? name : quote(name)}=${quote(text)}`;
  });
  const inBraces = isPlain ? pairs : [quote(metric), ...pairs];
  const braces = inBraces.length === 0 ? '' : `{${inBraces.join(',')}}`;
  const seconds = (millis: number) => {
    const size = Math.abs(millis);
    const fraction = String(size % 1000).padStart(3, '0');
    return `${millis < 0 ? '-' : ''}${Math.floor(size / 1000)}.${fraction}`;
  };
  const when = time === undefined ? '' : ` ${format === 'classic' ? time : seconds(time)}`;
  return `${isPlain ? metric : ''}${braces} ${toNumberText(number)}${when}\n`;
}

function bitsOf(number: number): bigint {
  if (Number.isNaN(number)) return 0x7ff8_0000_0000_0001n;
  return new BigUint64Array(Float64Array.of(number).buffer)[0]!;
}

for (const format of ['classic', 'openmetrics'] as const) {
  test(`${format} reads back as pushed`, async () => {
    await fc.assert(
      fc.asyncProperty(samples, async (random) => {
        const sent = withoutRepeats(random);
        const end = format === 'classic' ? '' : '# EOF\n';
        const text = sent.map((sample) => toLine(sample, format)).join('') + end;
        const rows = await push(text, format);
        const labelsOf = new Map(rows.series.map((row) => [row.id, row.labels]));
        assert.deepEqual(
          rows.samples.map(({ id, timeMs: time, valueBits }) => [
            labelsOf.get(id),
            time,
            valueBits,
          ]),
          sent.map((sample) => [
            canonical(sample).map(([name, own]) => [name, own.toWellFormed()]),
            BigInt(sample.timeMs ?? nowMs),
            bitsOf(sample.value),
          ]),
        );
      }),
      { numRuns: 500 },
    );
  });

  test(`damaged ${format} is accepted completely or refused`, async () => {
    const pieces = [
      '# TYPE a counter\na_total{b="c"} 1 # {t="1"} 2 3\n',
      '# TYPE h histogram\n# HELP h x \\n y\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 1\n',
      '# UNIT x_s s\n# TYPE x_s gauge\nx_s{a="b",c="d\\""} 1e3 1.5\n',
      '{"a.b","c d"="\\\\"} NaN 5\n',
      '# TYPE s stateset\ns{s="on"} 1\n',
      '\n\r\n \t',
      '# EOF\n',
      '# EOF',
    ];
    const signs = '{}",=#\\ \n\r\tEOF_01.+-eNInf\u{1f600}é\0';
    const damage = fc.array(
      fc.record({
        at: fc.nat(400),
        remove: fc.nat(3),
        insert: fc.string({ unit: fc.constantFrom(...Array.from(signs)), maxLength: 3 }),
      }),
      { maxLength: 4 },
    );
    const byte = fc.option(fc.tuple(fc.nat(400), fc.nat(255)), { nil: undefined });
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
        damage,
        byte,
        async (chosen, edits, raw) => {
          let text = chosen.join('');
          for (const { at, remove, insert } of edits) {
            const from = at % (text.length + 1);
            text = text.slice(0, from) + insert + text.slice(from + remove);
          }
          const body = Buffer.from(text);
          if (raw !== undefined && body.length > 0) body[raw[0] % body.length] = raw[1];
          try {
            // `push` reads the whole payload and checks its counts.
            await push(body, format);
            taken += 1;
          } catch (error) {
            assert.ok(error instanceof AppError, String(error));
            assert.equal(error.code, 'malformed');
            assert.match(error.message, /^cannot read the metrics: line \d+, column \d+: /);
          }
        },
      ),
      { numRuns: 3000 },
    );
    assert.ok(taken > 0, 'some bodies must be valid');
  });
}
