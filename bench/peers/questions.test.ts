/** The same question in both languages. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { corpusKinds, createCorpusLines } from './corpus.ts';
import { countAnswer, toLogsqlForms } from './logsql.ts';
import type { Question } from './peer.ts';
import { listQuestions } from './questions.ts';
import { toWeirRead } from './weir.ts';

const range = { sinceMs: Date.UTC(2026, 3, 1), untilMs: Date.UTC(2026, 3, 2) };

suite('questions', () => {
  const kind = corpusKinds.services;
  const options = { seed: 1, rows: 4_000, startMs: range.sinceMs, endMs: range.untilMs };
  const lines = createCorpusLines(kind, options);
  for (let row = 0; row < options.rows; row++) lines.next();
  const questions = listQuestions(kind, lines.samples, range);

  test('have names of their own', () => {
    assert.equal(new Set(questions.map(({ name }) => name)).size, questions.length);
  });

  test('differ in every round, for every peer', () => {
    for (const { name, toQuestion } of questions) {
      const rounds = Array.from({ length: 24 }, (_, round) => toQuestion(round));
      const asked = (toText: (question: Question) => unknown) =>
        new Set(rounds.map((question) => JSON.stringify(toText(question)))).size;
      assert.equal(asked(toWeirRead), 24, name);
      assert.equal(asked(toLogsqlForms), 24, name);
    }
  });
});

suite('forms', () => {
  test('a list of one service by stream and by field, with and without sort', () => {
    const filter = { service: 'cart', severity: 'ERROR', words: ['late'] };
    const question = { kind: 'list', filter, ...range } as const;
    const queries = toLogsqlForms(question).map(([request]) => request?.text);
    assert.deepEqual(queries, [
      '{service_name="cart"} "late" severity:="ERROR"',
      '{service_name="cart"} "late" severity:="ERROR" | sort by (_time desc) limit 100',
      'service_name:="cart" "late" severity:="ERROR"',
      'service_name:="cart" "late" severity:="ERROR" | sort by (_time desc) limit 100',
    ]);
    assert.deepEqual(toWeirRead(question), {
      path: '/logs',
      parameters: {
        limit: 100,
        sinceTime: range.sinceMs,
        untilTime: range.untilMs,
        serviceName: 'cart',
        severity: 'ERROR',
        search: 'late',
      },
    });
  });

  test('the end of the range is excluded', () => {
    const [form] = toLogsqlForms({ kind: 'list', filter: {}, ...range });
    assert.equal(form?.[0]?.parameters['end'], '1775087999999999999');
  });

  test('three facets may be one request or three at the same time', () => {
    const fields = ['severity', 'host', 'service'] as const;
    const forms = toLogsqlForms({ kind: 'facets', fields, filter: {}, ...range });
    assert.deepEqual(
      forms.map((form) => form.length),
      [3, 3, 3, 1],
    );
  });
});

test('answers are counted in every form', () => {
  const values = Array.from({ length: 12 }, (_, at) => ({ value: `v${at}`, hits: at }));
  assert.equal(countAnswer('{"a":"1"}\n{"a":"2"}\n', 'lines'), 2);
  assert.equal(countAnswer('{"x":"a","hits":"5"}\n{"x":"b","hits":"6"}\n', 'hits of lines'), 11);
  assert.equal(countAnswer(JSON.stringify({ values }), 'hits of values'), 65);
  assert.equal(countAnswer(JSON.stringify({ facets: [{ values }] }), 'hits of facets'), 65);
  assert.equal(countAnswer('{"hits":[{"total":3},{"total":4}]}', 'totals'), 7);
});
