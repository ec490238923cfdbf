/** Each reason of a refusal has advice; the reasons are read from the source of the decoders. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ingestErrorCodes } from '../../src/model/errors.ts';
import { generalAdvice, toAdvice } from '../../src/admin/advice.ts';

test('has distinct advice for each code of a refused request', () => {
  const advice = new Set(ingestErrorCodes.map((code) => toAdvice('request', code)));
  assert.equal(advice.size, ingestErrorCodes.length);
  assert.ok(!advice.has(generalAdvice));
});

/** Files that contain reasons of rejections, with the pattern of the reason. */
const places: readonly (readonly [file: RegExp, words: RegExp])[] = [
  [/protocols\/.*\.ts$/, /#reject\((?:\w+, )*['`]([^'`]+)['`]/g],
  [/protocols\/json-logs\/.*\.ts$/, /const not\w+ = '([^']+)'/g],
  [/protocols\/otlp\/metrics\/.*\.ts$/, /(?:reason: |fault\()'([^']+)'/g],
  [/protocols\/influx\/.*\.ts$/, /return '([a-z]\w* [^']+)'/g],
  [/protocols\/.*\.ts$/, /ejections\.add\(\s*(?:this\.#)?\w+,\s*'([^']+)'/g],
  [/protocols\/json-logs\/event-row\.ts$/, /return (?:.* \? )?['`]([a-z$][^'`]+ [^'`]+)['`]/g],
  [
    /protocols\/otlp\/metrics\/.*\.ts$/,
    /(?:fault\(|tooMany\(|reason: |badLabelName = )'([^']+ [^']+)'/g,
  ],
  [/codec\/series-labels\.ts$/, /(?:return|: ) ?'([^']+)'/g],
];

function reasonsOfDecoders(): string[] {
  const source = join(import.meta.dirname, '../../src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const found = files.flatMap((name) => {
    const text = readFileSync(join(source, name), 'utf8');
    return places
      .filter(([file]) => file.test(name))
      .flatMap(([, words]) => Array.from(text.matchAll(words), (match) => match[1] ?? ''));
  });
  return [...new Set(found)].flatMap(withValues);
}

/** Replaces the placeholders of a template by values. */
function withValues(template: string): string[] {
  const fields = ['message', 'severity', 'service_name', 'service_namespace', 'host'];
  if (template.includes('fieldKeys')) {
    return fields.map((field) => template.replace(/\$\{.*?\}/, field));
  }
  return [template.replace(/\$\{.*?\}/g, '100')];
}

test('has advice for each reason of a rejected record', () => {
  const reasons = reasonsOfDecoders();
  for (const known of [
    'message is missing',
    'host is not a string',
    'labels is not an object',
    'more than 100 labels',
    'the event is not an object',
    'the document is not an object',
    'neither cumulative nor delta',
    'a tag without a value',
    'the record takes more than 100 bytes',
    'the record has more than 100 elements in arrays and maps',
    'no metric name',
    'too many labels',
    'label value too long',
    'repeated label name',
    'bad histogram',
    'bad exemplar',
    'series limit',
    'neither cumulative nor delta',
    'delta point older than the last of its series',
    'too many buckets',
    'attribute key that cannot name a label',
  ]) {
    assert.ok(reasons.includes(known), `${known} is no longer found in the source`);
  }
  for (const reason of reasons) {
    assert.notEqual(toAdvice('record', reason), generalAdvice, reason);
  }
});

test('has general advice for an unknown reason', () => {
  assert.equal(toAdvice('request', 'from_the_future'), generalAdvice);
  assert.equal(toAdvice('record', 'from the future'), generalAdvice);
  assert.equal(toAdvice('record', 'malformed'), generalAdvice);
});
