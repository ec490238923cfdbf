/** Columns from JSON and from variables of patterns, and conditions on keys of JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLogQuery } from '../../../../src/query/parse.ts';
import { extractedField, jsonColumn, jsonCondition, variableColumn } from './extracted-fields.ts';

const message = '{"http": {"status": 500, "path":"/a \\"b\\""}, "ok":false}';
const read = (name: string, text: string) => extractedField(name)!.read(text);

test('reads values of JSON as they are written', () => {
  assert.equal(read(jsonColumn('http.status'), message), '500');
  assert.equal(read(jsonColumn('http.path'), message), '/a "b"');
  assert.equal(read(jsonColumn('http'), '{"http":[1.0]}'), '[1.0]');
  assert.equal(read(jsonColumn('none'), message), '');
  assert.equal(read(jsonColumn('ok'), 'ok: false'), '');
  assert.equal(extractedField(jsonColumn('http.status'))!.title, 'http.status');
});

test('reads a variable of a pattern', () => {
  const template = 'GET <path> took <duration> for <text> [<id>]…';
  const text = 'GET /a/b took 12ms for Ann Lee [7] and more';
  assert.deepEqual(
    ['path', 'duration', 'text', 'id', 'other'].map((name) =>
      read(variableColumn(name, template), text),
    ),
    ['/a/b', '12ms', 'Ann Lee', '7', ''],
  );
  assert.equal(read(variableColumn('path', template), 'PUT /a took 1ms'), '');
  assert.equal(read(variableColumn('n', 'in <n>'), 'in 5\nlines'), '5\nlines');
  assert.equal(extractedField(variableColumn('path', template))!.title, 'path');
});

test('conditions find the key and value as they were sent', () => {
  assert.equal(jsonCondition(message, 'http.path'), String.raw`"\"path\":\"/a \\\"b\\\"\""`);
  assert.equal(
    jsonCondition(message, 'http.status'),
    String.raw`"\"status\": 500" message:/"status": 500[\s,}\]]/`,
  );
  for (const path of ['http.status', 'http.path', 'ok']) {
    assert.ok(parseLogQuery(jsonCondition(message, path)!) !== undefined, path);
  }
});

test('objects and long values have no condition', () => {
  assert.equal(jsonCondition(message, 'http'), undefined);
  assert.equal(jsonCondition(`{"a":"${'x'.repeat(300)}"}`, 'a'), undefined);
});

test('other names are no extracted fields', () => {
  for (const name of ['json.', 'json', 'var.', 'var.a', 'label.json.a', 'host', 'constructor']) {
    assert.equal(extractedField(name), undefined, name);
  }
});
