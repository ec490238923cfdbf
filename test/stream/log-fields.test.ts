/**
 * The table of log fields compared with everything derived from it: SQL, API, facets, flags,
 * explorer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { openApiDocuments } from '../../scripts/docs/openapi.ts';
import { findField } from '../../src/cli/reading/log-text.ts';
import { toGroupField } from '../../src/query/fields.ts';
import { addFilterOptions, toFilterQuery } from '../../src/cli/reading/query.ts';
import {
  type EqualityField,
  type FieldFilter,
  fieldEntries,
  toStoredValue,
} from '../../src/model/log-fields.ts';
import { parseQuery } from '../../src/std/parse-query.ts';
import { Parameters } from '../../src/store/sql/statement.ts';
import { whereSql } from '../../src/store/sql/where.ts';
import { toFilter } from '../../src/stream/plan.ts';
import { listQuery } from '../../src/stream/requests.ts';
import { logRecord } from '../../src/stream/responses.ts';

interface Parameter {
  readonly name: string;
  readonly schema: { readonly enum?: readonly string[] };
}

const document = openApiDocuments().stream as {
  readonly paths: Readonly<Record<string, { readonly get: { parameters: readonly Parameter[] } }>>;
};
const parametersOf = (path: string) => document.paths[path]!.get.parameters;

const streamId = '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10';
const stream = {
  streamId,
  accountId: 'acme',
  name: 'main',
  retentionDays: 30,
  downsampling: null,
  dataDeletedUntil: null,
  createdAt: '',
};

function whereOf(query: string): { readonly sql: string; readonly values: readonly unknown[] } {
  const params = new Parameters();
  const asked = parseQuery(listQuery, new URLSearchParams(query));
  const context = { accountId: 'acme', streams: [stream], nowMs: Date.now() };
  const sql = whereSql(toFilter(context, asked), params);
  return { sql, values: Object.values(params.values) };
}

for (const [name, { column, path, flag, filter }] of fieldEntries) {
  test(`${name} is read, and shown by the command line`, () => {
    const [part = '', key] = path.split('.');
    const shape = logRecord.shape as Readonly<Record<string, { readonly shape?: object }>>;
    assert.ok(key === undefined ? shape[part] : Object.hasOwn(shape[part]!.shape!, key), path);
    const option = flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const log = key === undefined ? { [part]: 'x' } : { [part]: { [key]: 'x' } };
    assert.equal(findField(option)!(log as never, 'utc'), 'x');
  });

  if (filter === undefined) continue;
  const { digits }: FieldFilter = filter;
  const value =
    filter.match === 'stream' ? streamId : digits === undefined ? 'Value' : 'Ab'.repeat(digits / 2);

  test(`${name} filters and excludes by ${column}`, () => {
    const stored = name === 'streamId' ? value : toStoredValue(name as EqualityField, value);
    const wanted = whereOf(`${name}=${value}`);
    assert.match(wanted.sql, new RegExp(`^AccountId = [^]* ${column} = \\{`));
    assert.ok(wanted.values.includes(stored));
    const excluded = whereOf(`exclude=${name}:${value}`);
    const nothing = filter.match === 'stream' ? '\n  AND 0' : `NOT (${column} = {`;
    assert.ok(excluded.sql.includes(nothing), excluded.sql);
  });

  test(`${name} is a parameter of every read, and a facet if the table says so`, () => {
    for (const read of [
      'logs',
      'histogram',
      'facets',
      'facets/batch',
      'logs/tail',
      'logs/export',
    ]) {
      assert.ok(parametersOf(`/api/v1/${read}`).some((parameter) => parameter.name === name));
    }
    for (const facet of filter.facets) assert.equal(toGroupField(facet), name, facet);
  });

  test(`--${flag} filters by ${name}`, async () => {
    const command = addFilterOptions(new Command()).exitOverride();
    command.parse([`--${flag}`, value], { from: 'user' });
    const query = await toFilterQuery([], command.opts(), {} as never);
    assert.equal(query.toString(), `${name}=${value}`);
  });
}
