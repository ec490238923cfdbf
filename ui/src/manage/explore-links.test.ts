/** The page of logs reads these addresses as they are meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../explore/query.ts';
import { toStreamLogs } from './explore-links.ts';

test('a link to the logs of a stream is a filter of that stream', () => {
  const streamId = 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70';
  const { pathname, search } = new URL(toStreamLogs(streamId), 'https://weir.example.com');
  assert.equal(pathname, '/explore/logs');
  assert.deepEqual(parseQuery(search).filters, [
    { field: 'streamId', value: streamId, isExcluded: false },
  ]);
});
