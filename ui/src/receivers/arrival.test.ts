/** State of a receiver from its statistics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type RefusalSample, toArrival } from './arrival.ts';

const early = '2026-05-01T10:00:00.000Z';
const late = '2026-05-01T11:00:00.000Z';

function sample(at: string, kind: RefusalSample['kind'] = 'request'): RefusalSample {
  return {
    at,
    kind,
    reason: 'forbidden',
    status: 403,
    detail: '',
    tokenId: null,
    peerAddress: '::1',
    contentType: null,
    bodyBytes: null,
    advice: '',
  };
}

test('nothing arrived yet', () => {
  assert.deepEqual(toArrival({ lastAcceptedAt: null, samples: [] }), {
    acceptedAt: null,
    refusal: undefined,
  });
});

test('shows a refusal until a later request is accepted', () => {
  const refused = sample(late);
  assert.equal(toArrival({ lastAcceptedAt: null, samples: [refused] }).refusal, refused);
  assert.equal(toArrival({ lastAcceptedAt: early, samples: [refused] }).refusal, refused);
  assert.equal(toArrival({ lastAcceptedAt: late, samples: [sample(early)] }).refusal, undefined);
  assert.equal(toArrival({ lastAcceptedAt: late, samples: [refused] }).refusal, undefined);
});

test('shows rejected records of the last accepted request', () => {
  const record = sample(late, 'record');
  assert.deepEqual(toArrival({ lastAcceptedAt: late, samples: [record] }), {
    acceptedAt: late,
    refusal: record,
  });
});
