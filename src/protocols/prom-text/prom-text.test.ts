/** What the ingest spine sees of pushes: what they may be, how they are answered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BodyFormat } from '../../model/protocol.ts';
import { blankSeriesView } from '../../model/series-view.ts';
import { createPromText } from './prom-text.ts';

const limits = { maxEvents: 100, maxDepth: 1, maxRejections: 1 };
const labels = { maxLabels: 8, maxNameLength: 40, maxValueLength: 60 };
const protocol = createPromText({ maxBodyBytes: 1000, limits, labels });
const context = { limits, nowMs: 1, series: blankSeriesView };

function toFormat(mediaType: string): BodyFormat {
  return { mediaType, parameters: new Map(), coding: 'identity' };
}

test('takes both text formats in their known versions, as they are', () => {
  const types = protocol.mediaTypes.map(({ name, parameters }) => [name, parameters?.['version']]);
  assert.deepEqual(types, [
    ['text/plain', ['0.0.4']],
    ['application/openmetrics-text', ['0.0.1', '1.0.0']],
  ]);
  assert.deepEqual(protocol.codings, ['identity']);
  assert.equal(protocol.kind, 'prometheus');
  const caps = protocol.bodyCaps(toFormat('text/plain'));
  assert.deepEqual(caps, { travelling: 1000, inflated: 1000 });
});

test('the media type settles the format', async () => {
  const text = Buffer.from('a  1\n');
  assert.equal((await protocol.decode(text, toFormat('text/plain'), context)).rows, 1);
  assert.throws(
    () => protocol.decode(text, toFormat('application/openmetrics-text'), context),
    /line 1, column 3/,
  );
});

test('answers 202 with nothing more', async () => {
  const format = toFormat('text/plain');
  const batch = await protocol.decode(Buffer.from('a 1\n'), format, context);
  assert.deepEqual(protocol.reply(batch, format), {
    status: 202,
    contentType: undefined,
    body: '',
  });
  assert.equal(protocol.encodeProblem, undefined);
});
