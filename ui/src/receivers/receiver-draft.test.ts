/** Input of the receiver form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFields, newDraft, toDraft, toDraftFaults, toFields } from './receiver-draft.ts';

const draft = { ...newDraft('stream'), name: 'shop' };

test('round-trips the fields of a receiver', () => {
  const receiver = {
    receiverId: 'rcv_1',
    accountId: 'a',
    streamId: 's',
    name: 'shop',
    kind: 'otlp' as const,
    active: false,
    allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'],
    limits: { eventsPerSecond: 5000, burstEvents: null, maxBodyBytes: 1024 },
    transform: [],
    createdAt: '',
  };
  const { name, active, allowedCidrs, limits } = receiver;
  assert.deepEqual(toFields(toDraft(receiver)), { name, active, allowedCidrs, limits });
});

test('parses amounts', () => {
  const limitsOf = (changed: Partial<typeof draft>) => {
    const fields = toFields({ ...draft, ...changed });
    return isFields(fields) ? fields.limits : fields;
  };
  assert.deepEqual(limitsOf({}), { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null });
  assert.deepEqual(
    limitsOf({ eventsPerSecond: ' 10,000 ', burstEvents: '1 000', maxBodyBytes: '2 MiB' }),
    { eventsPerSecond: 10_000, burstEvents: 1000, maxBodyBytes: 2_097_152 },
  );
  assert.deepEqual(Object.keys(limitsOf({ eventsPerSecond: '5k', maxBodyBytes: 'big' })), [
    'eventsPerSecond',
    'maxBodyBytes',
  ]);
  assert.deepEqual(Object.keys(limitsOf({ burstEvents: '-1' })), ['burstEvents']);
});

test('splits address ranges at lines and commas', () => {
  const fields = toFields({ ...draft, cidrs: '10.0.0.0/8\n\n 192.0.2.1, ::1 ' });
  assert.ok(isFields(fields));
  assert.deepEqual(fields.allowedCidrs, ['10.0.0.0/8', '192.0.2.1', '::1']);
});

test('shows errors of the API at their fields', () => {
  const cidrs = '10.0.0.0/8\n\n10.0.0.0/99\nnowhere';
  assert.deepEqual(
    toDraftFaults(
      {
        name: 'too short',
        'allowedCidrs.1': 'must be a range',
        'allowedCidrs.2': 'must be a range',
        'limits.burstEvents': 'too small',
        other: 'no',
      },
      { ...draft, cidrs },
    ),
    {
      name: 'too short',
      cidrs: '“10.0.0.0/99” must be a range; “nowhere” must be a range',
      burstEvents: 'too small',
    },
  );
});
