/** Ratios, agreement of counts and the sections of RESULTS.md. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { percentilesOf } from '../percentiles.ts';
import { isStable, type PeerFigures } from './measure.ts';
import type { SamplesFigures } from './measure-samples.ts';
import { replaceSection, samplesMarkdown, toAgreement, toMarkdown, toVerdict } from './report.ts';

suite('verdict', () => {
  const cases = [
    [200, 100, 'more', '2.00 × better'],
    [100, 200, 'more', '**2.00 × worse**'],
    [100, 200, 'less', '2.00 × better'],
    [300, 20, 'less', '**15 × worse**'],
    [8e6, 1, 'less', '**over 1,000 × worse**'],
    [100, 104, 'less', 'equal'],
    [100, 0, 'less', 'not comparable'],
    [0, 100, 'less', 'not comparable'],
    [Number.POSITIVE_INFINITY, 100, 'less', '**failed**'],
    [100, Number.POSITIVE_INFINITY, 'less', 'not comparable'],
  ] as const;
  for (const [weir, peer, better, expected] of cases) {
    test(`${weir} and ${peer}, ${better} is better: ${expected}`, () => {
      assert.equal(toVerdict(weir, peer, better), expected);
    });
  }
});

suite('agreement', () => {
  test('is the last count when all rounds agree', () => {
    assert.equal(toAgreement([1, 1_200], [1, 1_200]), '1,200');
  });
  test('shows the first round that differs', () => {
    assert.equal(toAgreement([1, 2, 3], [1, 5, 9]), '**differ: 2 and 5**');
    assert.equal(toAgreement([1, Number.NaN], [1, 5]), '**differ: failed and 5**');
  });
});

suite('section of a corpus', () => {
  const file = '# Title\n\nIntroduction.\n\n## Corpus a\n\nold\n\n## Corpus b\n\nkept\n';
  test('replaces its own section', () => {
    const replaced = replaceSection(file, 'a', '## Corpus a\n\nnew\n');
    assert.equal(replaced, file.replace('old', 'new'));
  });
  test('replaces the last section', () => {
    const replaced = replaceSection(file, 'b', '## Corpus b\n\nnew\n');
    assert.equal(replaced, file.replace('kept', 'new'));
  });
  test('is appended when the file has none', () => {
    assert.equal(
      replaceSection(file, 'c', '## Corpus c\n\nnew\n'),
      `${file}\n## Corpus c\n\nnew\n`,
    );
  });
});

test('tables have as many cells in each row as in their head', () => {
  const markdown = toMarkdown({
    corpus: 'services',
    description: 'logs',
    command: 'npm run bench',
    machine: 'a machine',
    when: '2026-01-01',
    rows: 10,
    corpusBytes: 1_000,
    weir: figuresOf('Weir', 2),
    peer: figuresOf('Peer', 1),
  });
  const tables = markdown.split('\n\n').filter((part) => part.startsWith('|'));
  assert.equal(tables.length, 2);
  for (const rows of tables.map((part) => part.split('\n'))) {
    const cells = new Set(rows.map((row) => row.split('|').length));
    assert.equal(cells.size, 1, rows.join('\n'));
  }
  assert.match(markdown, /\| acknowledged events\/s \| 2,000 \| 1,000 \| 2\.00 × better \|/);
  assert.match(
    markdown,
    /\| list \| 20\.0 ms \(10\.0 ms\) \| 10\.0 ms \(5\.0 ms\) \| \*\*2\.00 × worse/,
  );
});

suite('stable sizes', () => {
  const sizes = (...bytes: number[]) =>
    bytes.map((size, at) => ({ atMs: at * 1_000, bytes: size }));
  test('need the whole time', () => assert.equal(isStable(sizes(10, 10), 2_000), false));
  test('may differ little', () =>
    assert.equal(isStable(sizes(5, 10_000, 10_001, 10_000), 2_000), true));
  test('must not shrink meanwhile', () => assert.equal(isStable(sizes(20, 10, 10), 2_000), false));
});

function figuresOf(name: string, factor: number): PeerFigures {
  return {
    name,
    version: '1.0',
    flags: 'none',
    acknowledgement: 'synced',
    acknowledgedPerSecond: 1_000 * factor,
    readablePerSecond: 1_000 * factor,
    ackMs: percentilesOf([1, 2]),
    refused: 0,
    cpuSeconds: { loaded: factor, settled: factor },
    peakMemoryBytes: 1e6,
    diskBytes: { loaded: 1e6, settled: 1e6 },
    answers: [
      { question: 'list', form: '*', p50Ms: 10 * factor, minMs: 5 * factor, counts: [100] },
    ],
  };
}

test('shows the samples of both systems with losses as losses', () => {
  const percentiles = { count: 1, p50: 10, p95: 20, p99: 20, max: 20 };
  const weir: SamplesFigures = {
    peer: { name: 'Weir', version: '1', flags: 'none', acknowledgement: 'synced' },
    acknowledgedPerSecond: 500_000,
    storedPerSecond: 400_000,
    ackMs: percentiles,
    refused: 0,
    cpuMicros: { stored: 2, settled: 3 },
    peakMemoryBytes: 1e9,
    bytes: { stored: 3, settled: 1.5 },
  };
  const peer: SamplesFigures = {
    ...weir,
    peer: { name: 'Other', version: '2', flags: '-x', acknowledgement: 'in memory' },
    acknowledgedPerSecond: 1_000_000,
    cpuMicros: { stored: 1, settled: 3 },
    bytes: { stored: 3, settled: 3 },
  };
  const run = { command: 'run', machine: 'm', when: 'w', rows: 1_000_000, weir, peer };
  const lines = samplesMarkdown(run).split('\n');
  assert.equal(lines[0], '## Corpus samples');
  for (const line of [
    '- Other 2; flags: -x. Acknowledgement: in memory.',
    '| acknowledged samples/s | 500,000 | 1,000,000 | **2.00 × worse** |',
    '| CPU time per sample until stored | 2.00 µs | 1.00 µs | **2.00 × worse** |',
    '| CPU time per sample until settled | 3.00 µs | 3.00 µs | equal |',
    '| bytes per sample settled | 1.50 | 3.00 | 2.00 × better |',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});
