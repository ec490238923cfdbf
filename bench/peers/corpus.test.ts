/** The corpora are determined by their seed, and their words mean the same to every peer. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type CorpusKind, corpusKinds, createCorpusLines, rareService } from './corpus.ts';

const range = { startMs: Date.UTC(2026, 3, 1), endMs: Date.UTC(2026, 3, 2) };

function draw(kind: CorpusKind, seed: number, rows: number) {
  const lines = createCorpusLines(kind, { seed, rows, ...range });
  return { lines: Array.from({ length: rows }, () => lines.next()), samples: lines.samples };
}

for (const [name, kind] of Object.entries(corpusKinds) as [string, CorpusKind][]) {
  suite(`corpus ${name}`, () => {
    const { lines, samples } = draw(kind, 1, 20_000);
    const events = lines.map((line) => JSON.parse(line) as { message: string; timestamp: string });

    test('is determined by its seed', () => {
      assert.deepEqual(draw(kind, 1, 500), draw(kind, 1, 500));
      assert.notDeepEqual(draw(kind, 1, 500).lines, draw(kind, 2, 500).lines);
    });

    test('stays within its time range', () => {
      const times = events.map(({ timestamp }) => Date.parse(timestamp));
      assert.ok(Math.min(...times) >= range.startMs);
      assert.ok(Math.max(...times) < range.endMs);
    });

    test('has different samples of each kind', () => {
      for (const [field, values] of Object.entries(samples) as [string, readonly string[]][]) {
        const different = new Set(values).size;
        assert.ok(different >= (field === 'services' ? 10 : 30), `${field}: ${different}`);
      }
    });

    test('contains every needle and hexadecimal id once', () => {
      const few = draw(kind, 1, 2_000);
      for (const word of [...few.samples.needles, ...few.samples.hexIds]) {
        assert.equal(few.lines.filter((line) => line.includes(word)).length, 1, word);
      }
    });

    test('contains a rare service', () => {
      assert.equal(lines.filter((line) => line.includes(`"${rareService}"`)).length, 2);
    });

    test('contains each asked word only as a whole word in one case', () => {
      for (const word of [...kind.commonWords, kind.errorWord, kind.histogramWord]) {
        const asSubstring = new RegExp(word, 'i');
        const asWord = new RegExp(`(?<![A-Za-z0-9_])${word}(?![A-Za-z0-9_])`);
        const found = events.filter(({ message }) => asSubstring.test(message));
        assert.ok(found.length > 100, `${word}: ${found.length}`);
        assert.deepEqual(
          found.filter(({ message }) => !asWord.test(message)),
          [],
        );
      }
    });
  });
}
