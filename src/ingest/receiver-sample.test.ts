/** Samples of refusals contain neither secrets nor data of a body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Batch } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import { type Sender, toRecordSamples, toRequestSample } from './receiver-sample.ts';

const at = '2026-04-01T08:30:00.000Z';
const sender: Sender = {
  receiverId: 'rcv_a',
  tokenId: 'tok_a',
  peerAddress: '192.0.2.1',
  contentType: 'application/json',
  declaredBytes: 12,
};

function detailOf(error: unknown): string {
  return toRequestSample(sender, error, at).detail;
}

test('a sample has the error of the refused request', () => {
  const error = new AppError('too_large', 'cannot accept a body of more than 9 bytes');
  assert.deepEqual(toRequestSample(sender, error, at), {
    at,
    kind: 'request',
    reason: 'too_large',
    status: 413,
    detail: 'cannot accept a body of more than 9 bytes',
    tokenId: 'tok_a',
    peerAddress: '192.0.2.1',
    contentType: 'application/json',
    bodyBytes: 12,
  });
});

test('unknown fields are null', () => {
  const unknown = {
    ...sender,
    tokenId: undefined,
    contentType: undefined,
    declaredBytes: undefined,
  };
  const sample = toRequestSample(unknown, new AppError('unauthenticated', 'cannot'), at);
  assert.deepEqual([sample.tokenId, sample.contentType, sample.bodyBytes], [null, null, null]);
});

test('hides the message of an internal error', () => {
  const sample = toRequestSample(sender, new TypeError('secret internals'), at);
  assert.equal(sample.reason, 'internal');
  assert.equal(sample.status, 500);
  assert.ok(!JSON.stringify(sample).includes('secret'));
});

const redacted: readonly [message: string, detail: string][] = [
  ['found "body", expected x', 'found "…", expected x'],
  ['found "a\\"b\\\\" and "c"', 'found "…" and "…"'],
  [`found ${JSON.stringify(`'"'secret`)} here`, 'found "…" here'],
  ['a quote that never ends "body', 'a quote that never ends "…"'],
  ['one of two lines "a\nb" more', 'one of two lines "…" more'],
  [`no closing '"' before the end of the line`, `no closing '"' before the end of the line`],
  [
    'expected one of the escapes \\\\, \\" and \\n, found "\\\\q of the body"',
    'expected one of the escapes \\\\, \\" and \\n, found "…"',
  ],
  ['expected "# EOF", found "# eof"', 'expected "# EOF", found "…"'],
  ['nothing quoted', 'nothing quoted'],
];
for (const [message, detail] of redacted) {
  test(`keeps ${JSON.stringify(message)} without its quotes`, () => {
    assert.equal(detailOf(new AppError('malformed', message)), detail);
  });
}

test('keeps quotes of headers', () => {
  const message = 'cannot accept the content type "text/plain": this route takes application/json';
  assert.equal(detailOf(new AppError('unsupported_media', message)), message);
});

test('removes any text quoted as JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (body, other) => {
      // No word of Weir's own messages begins like this.
      const quoted = (text: string) => JSON.stringify(`!${text}`);
      const message = `cannot read ${quoted(body)} or ${quoted(other)} at line 1`;
      assert.equal(
        detailOf(new AppError('malformed', message)),
        'cannot read "…" or "…" at line 1',
      );
    }),
  );
});

test('masks secrets anywhere', () => {
  const secret = 'wri_AbC-def_ghi.jkl~mno+pqr/stu=';
  const contentType = `text/${secret}`;
  for (const code of ['unsupported_media', 'malformed'] as const) {
    const error = new AppError(code, `cannot accept "${contentType}" (${secret.toUpperCase()})`);
    const text = JSON.stringify(toRequestSample({ ...sender, contentType }, error, at));
    assert.ok(!/AbC|DEF/i.test(text.replaceAll('default', '')), text);
  }
});

test('truncates long texts between characters', () => {
  const error = new AppError('malformed', `cannot ${'\u{1f600}'.repeat(400)}`);
  const { detail, contentType } = toRequestSample(
    { ...sender, contentType: 'x'.repeat(5000) },
    error,
    at,
  );
  assert.ok(detail.length <= 500);
  assert.ok(detail.isWellFormed());
  assert.ok(detail.endsWith('…'));
  assert.equal(contentType?.length, 100);
});

test('samples the first rejected records by their fixed reason', () => {
  const batch: Batch = {
    layout: 'metrics/1',
    rows: 1,
    payload: new Uint8Array(),
    rejected: [
      { index: 3, reason: 'label name too long: {secret="body"}' },
      { index: 4, reason: 'series limit' },
      { index: 5, reason: 'something: else' },
      { index: 6, reason: 'series limit' },
    ],
    rejectedCount: 4,
    rejectedByReason: new Map([
      ['label name too long', 1],
      ['series limit', 2],
    ]),
  };
  const samples = toRecordSamples(sender, { batch, bodyBytes: 77, status: 400 }, at);
  assert.deepEqual(
    samples.map(({ kind, reason, status, detail, bodyBytes }) => [
      kind,
      reason,
      status,
      detail,
      bodyBytes,
    ]),
    [
      [
        'record',
        'label name too long',
        400,
        'cannot accept the record at index 3: label name too long',
        77,
      ],
      ['record', 'series limit', 400, 'cannot accept the record at index 4: series limit', 77],
      ['record', 'rejected', 400, 'cannot accept the record at index 5: rejected', 77],
    ],
  );
});
