/**
 * Test data of Prometheus' own parsers, if present beside the checkout or at WEIR_CORPORA:
 * github.com/prometheus/common (expfmt) and prometheus/prometheus (model/textparse).
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { AppError } from '../../src/model/errors.ts';
import { createPromTextDecoder, type TextFormat } from '../../src/protocols/prom-text/prom-text.ts';
import { type MetricRows, readMetricRows } from './read-metric-rows.ts';

const corpora =
  process.env['WEIR_CORPORA'] ?? fileURLToPath(new URL('../../../shared/corpora', import.meta.url));
const skip = existsSync(corpora) ? false : 'no test data here: set WEIR_CORPORA';
const expfmt = `${corpora}/prometheus-common-expfmt`;
const textparse = `${corpora}/prometheus-textparse`;

const decode = createPromTextDecoder({
  maxLabels: 64,
  maxLabelNameLength: 1024,
  maxLabelValueLength: 8192,
});
const limits = { maxEvents: 100_000, maxDepth: 1, maxRejections: 1 };

async function push(body: Buffer, format: TextFormat): Promise<MetricRows> {
  const context = { limits, nowMs: 1_767_319_445_123, series: blankSeriesView };
  return readMetricRows((await decode(body, format, context)).payload);
}

interface Verdict {
  readonly file: string;
  readonly input: string;
  readonly go_expfmt: 'accept' | 'reject';
}

/** Intended differences from the Go parser, with reasons. */
const differences: Record<string, string> = {
  from_test_parse_error_0: 'the last line may lack its end, as Prometheus takes it from scrapes',
  from_test_parse_error_7: 'labels are kept as sent, whatever the value of "quantile"',
  from_test_parse_error_19: 'labels are kept as sent, whatever the value of "le"',
};

describe('verdicts of expfmt', { skip }, () => {
  const verdicts = skip
    ? []
    : (JSON.parse(readFileSync(`${expfmt}/expfmt-verdicts.json`, 'utf8')) as Verdict[]);

  for (const { file, input, go_expfmt: verdict } of verdicts) {
    const expected = verdict === 'accept' || file in differences ? 'accept' : 'reject';
    test(`${file}: ${expected}`, async () => {
      if (expected === 'accept') await push(Buffer.from(input), 'classic');
      else await assert.rejects(push(Buffer.from(input), 'classic'), AppError);
    });
  }

  test('every listed difference is real', () => {
    const rejected = verdicts.filter(({ go_expfmt: verdict }) => verdict === 'reject');
    const files = rejected.map(({ file }) => file);
    assert.deepEqual(
      Object.keys(differences).filter((file) => !files.includes(file)),
      [],
    );
  });
});

describe('expositions', { skip }, () => {
  const cases: [
    path: string,
    format: TextFormat,
    counts: Partial<Record<keyof MetricRows, number>>,
  ][] = [
    [`${expfmt}/expfmt/testdata/text`, 'classic', { samples: 248, metadata: 37 }],
    [
      `${textparse}/model/textparse/testdata/alltypes.237mfs.prom.txt`,
      'classic',
      { samples: 1857, metadata: 237 },
    ],
    [
      `${textparse}/model/textparse/testdata/alltypes.237mfs.nometa.prom.txt`,
      'classic',
      { samples: 1857, metadata: 0 },
    ],
    [`${textparse}/model/textparse/testdata/alltypes.5mfs.om.txt`, 'openmetrics', { metadata: 5 }],
    [`${textparse}/model/textparse/testdata/1histogram.om.txt`, 'openmetrics', { samples: 42 }],
    [`${textparse}/cmd/promtool/testdata/metrics-test.prom`, 'classic', {}],
    [`${textparse}/cmd/promtool/testdata/dump-openmetrics-test.prom`, 'openmetrics', {}],
    [`${textparse}/cmd/promtool/testdata/dump-openmetrics-roundtrip-test.prom`, 'openmetrics', {}],
  ];
  for (const [path, format, counts] of cases) {
    test(path.slice(corpora.length + 1), async () => {
      const body = readFileSync(path);
      const rows = await push(body, format);
      for (const [section, count] of Object.entries(counts)) {
        assert.equal(rows[section as keyof MetricRows].length, count, section);
      }
      assert.deepEqual(
        rows.samples.map(({ value }) => value),
        valuesIn(body.toString()),
      );
    });
  }
});

/** Values of these files: the second word of each sample, since no label has a blank. */
function valuesIn(text: string): number[] {
  const words: Record<string, number> = { NaN, '+Inf': Infinity, '-Inf': -Infinity };
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').split(' ')[1] ?? '')
    .map((word) => words[word] ?? Number(word));
}
