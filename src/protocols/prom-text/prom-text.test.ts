/** Accepted formats and answers of pushes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configSchema } from '../../config/schema.ts';
import { type BodyFormat, capsOf } from '../../model/protocol.ts';
import { blankSeriesView } from '../../../test/harness/blank-series-view.ts';
import { createPromText } from './prom-text.ts';

const protocol = createPromText(configSchema.parse({ ingest: { promTextMaxBodyBytes: 1000 } }));
const context = { limits: protocol.limits, nowMs: 1, series: blankSeriesView };

function toFormat(mediaType: string): BodyFormat {
  return { mediaType, parameters: new Map(), coding: 'identity' };
}

test('accepts both text formats in their known versions, uncompressed', () => {
  const types = protocol.mediaTypes.map(({ name, parameters }) => [name, parameters?.['version']]);
  assert.deepEqual(types, [
    ['text/plain', ['0.0.4']],
    ['application/openmetrics-text', ['0.0.1', '1.0.0']],
  ]);
  assert.deepEqual(protocol.codings, ['identity']);
  assert.equal(protocol.kind, 'prometheus');
  const caps = capsOf(protocol, toFormat('text/plain'));
  assert.deepEqual(caps, { wireBytes: 1000, inflatedBytes: 1000 });
});

test('decodes by the media type', async () => {
  const text = Buffer.from('a  1\n');
  assert.equal((await protocol.decode(text, toFormat('text/plain'), context)).rows, 1);
  assert.throws(
    () => protocol.decode(text, toFormat('application/openmetrics-text'), context),
    /line 1, column 3/,
  );
});

test('answers 202 without a body', async () => {
  const format = toFormat('text/plain');
  const batch = await protocol.decode(Buffer.from('a 1\n'), format, context);
  assert.deepEqual(protocol.reply(batch, format), {
    status: 202,
    contentType: undefined,
    body: '',
  });
  assert.equal(protocol.encodeProblem, undefined);
});
