/** Matching page state to saved views. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseQuery } from '../query.ts';
import { findView, toViewQuery } from './saved-view.ts';

const views = [
  { viewId: 'a', name: 'Errors', query: 'severity=ERROR&range=1h' },
  { viewId: 'b', name: 'All', query: '' },
];

test('matches a view however its query is written', () => {
  const log = '018f2c2e-0000-7000-8000-000000000000';
  assert.equal(findView(views, parseQuery(`log=${log}&severity=ERROR`))?.name, 'Errors');
  assert.equal(findView(views, parseQuery(''))?.name, 'All');
  assert.equal(findView(views, parseQuery('severity=ERROR&wrap=1')), undefined);
});

test('a view does not include the open log', () => {
  const state = parseQuery('search=x&log=018f2c2e-0000-7000-8000-000000000000');
  assert.equal(toViewQuery(state), 'query=x');
});
