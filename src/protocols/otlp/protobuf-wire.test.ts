/** Wire that is broken, and wire that nobody knows. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesField, varintField } from '../../../test/harness/proto-wire.ts';
import { assertFails, recordWith, rowOf } from '../../../test/protocols/otlp-rows.ts';

describe('bad wire', () => {
  const short = /goes beyond the end of its message at byte \d+$/;

  test('is refused, with the place', () => {
    const longGroup = Buffer.concat([
      Buffer.from([0x0b]),
      Buffer.alloc(2 << 20, 0x10),
      Buffer.from([0x0c]),
    ]);
    const cases: [string, Buffer, RegExp][] = [
      ['a length beyond the body', Buffer.from([0x0a, 5, 0]), short],
      [
        'a length beyond its message',
        recordWith(Buffer.from([0x2a, 4, 0x0a, 9, 0x61, 0x62])),
        short,
      ],
      ['half a fixed64', recordWith(Buffer.from([0x09, 1, 2])), short],
      ['half a fixed32', recordWith(Buffer.from([0x45, 1, 2])), short],
      ['half a varint', recordWith(Buffer.from([0x10, 0x80])), short],
      ['half a tag', Buffer.from([0x80]), short],
      ['a tag alone', Buffer.from([0x0a]), short],
      ['a long varint', recordWith(Buffer.from([0x10]), Buffer.alloc(11, 0x80)), /ten bytes/],
      ['field 0', Buffer.from([0x02, 0]), /field of number 0 at byte 0/],
      ['wire type 6', Buffer.from([0x0e]), /wire type 6/],
      ['a length of 2^32', Buffer.from([0x0a, 0x80, 0x80, 0x80, 0x80, 0x10]), short],
      ['a huge field number', Buffer.from([0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 0]), /29 bits/],
      ['a group that never began', Buffer.from([0x0c]), /group that did not begin/],
      ['a group that never ends', Buffer.from([0x0b, 0x10, 1]), short],
      ['a group that ends as another', Buffer.from([0x0b, 0x14]), /another group/],
      ['groups in groups', Buffer.alloc(1000, 0x0b), /more than 64 open groups at byte 64/],
      ['a long group', longGroup, /a group of more than 1048576 bytes at byte 1$/],
      ['JSON', Buffer.from('{"resourceLogs":[]}'), /cannot parse protobuf/],
    ];
    for (const [name, body, message] of cases) {
      assertFails(body, 'malformed', message, name);
    }
  });

  test('within a record names the byte of the body', () => {
    const body = recordWith(Buffer.from([0x10, 1, 0x0e]));
    assertFails(body, 'malformed', new RegExp(`wire type 6 at byte ${body.length}$`));
  });

  test('of unknown fields is passed over', () => {
    const unknown = Buffer.concat([
      varintField(100, 1n << 60n),
      Buffer.from([0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8]),
      bytesField(102, Buffer.from('unknown')),
      Buffer.from([0xbb, 0x06, 0x08, 1, 0x13, 0x14, 0x1a, 1, 0, 0xbc, 0x06]),
      Buffer.from([0xc5, 0x06, 1, 2, 3, 4]),
      // Known numbers in another wire type.
      Buffer.from([0x08, 1]),
    ]);
    const scope = Buffer.concat([
      unknown,
      bytesField(1, Buffer.concat([bytesField(1, Buffer.from('s')), unknown])),
    ]);
    const value = Buffer.concat([unknown, bytesField(1, Buffer.from('body')), unknown]);
    const record = bytesField(2, Buffer.concat([unknown, bytesField(5, value), unknown]));
    const scopeLogs = bytesField(2, Buffer.concat([scope, record, unknown]));
    const resource = bytesField(1, unknown);
    const { row } = rowOf(
      Buffer.concat([unknown, bytesField(1, Buffer.concat([scopeLogs, unknown, resource]))]),
    );
    assert.deepEqual([row.body, row.scopeName], ['body', 's']);
  });
});
