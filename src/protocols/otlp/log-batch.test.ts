/** Ids, times and severities of rows. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestOf, rowOf } from '../../../test/protocols/otlp-rows.ts';
import { logWarnings } from './log-record.ts';

const time = '1544712660300000001';

describe('trace and span ids', () => {
  const idsOf = (traceId: Buffer, spanId: Buffer) => {
    const { row, warnings } = rowOf(requestOf({ traceId, spanId }));
    return { ids: [row.traceId, row.spanId], warnings };
  };

  test('decodes hex digits, with a warning', () => {
    assert.deepEqual(
      idsOf(Buffer.from('5B8EFFF798038103D269B633813FC60C'), Buffer.from('eee19b7ec3c1b174')),
      {
        ids: ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174'],
        warnings: { [logWarnings.idNotation]: 2 },
      },
    );
  });

  test('drops ids of the wrong length, with a warning', () => {
    for (const [traceId, spanId] of [
      [Buffer.alloc(15, 1), Buffer.alloc(7, 1)],
      [Buffer.alloc(17, 1), Buffer.alloc(9, 1)],
      [Buffer.alloc(32, 'g'), Buffer.alloc(16, 'g')],
    ] as const) {
      assert.deepEqual(idsOf(traceId, spanId), {
        ids: ['', ''],
        warnings: { [logWarnings.badId]: 2 },
      });
    }
  });

  test('treats zeros as absent', () => {
    for (const [traceId, spanId] of [
      [Buffer.alloc(16), Buffer.alloc(8)],
      [Buffer.alloc(0), Buffer.alloc(0)],
    ] as const) {
      assert.deepEqual(idsOf(traceId, spanId), { ids: ['', ''], warnings: {} });
    }
  });
});

describe('times and severities', () => {
  test('uses the observed time if the time is absent', () => {
    const { row } = rowOf(requestOf({ observedTimeUnixNano: time }));
    assert.deepEqual([row.timestamp, row.observedTimestamp], [BigInt(time), BigInt(time)]);
  });

  test('corrects times in other units, with a warning', () => {
    for (const sent of ['1544712660', '1544712660000', '1544712660000000']) {
      const { row, warnings } = rowOf(requestOf({ timeUnixNano: sent }));
      assert.equal(row.timestamp, 1_544_712_660_000_000_000n);
      assert.deepEqual(warnings, { [logWarnings.timeUnit]: 1 });
    }
  });

  test('replaces times outside 1970 to 2149 by the time of receipt, keeps them as labels', () => {
    const far = '18446744073709551615';
    const { row, warnings } = rowOf(
      requestOf({ timeUnixNano: far, observedTimeUnixNano: '5648745600000000000' }),
    );
    assert.deepEqual([row.timestamp, row.observedTimestamp], [-1n, -1n]);
    assert.deepEqual(
      row.logAttributes,
      new Map([
        ['otel.time_unix_nano', far],
        ['otel.observed_time_unix_nano', '5648745600000000000'],
      ]),
    );
    assert.deepEqual(warnings, { [logWarnings.timeRange]: 2 });
  });

  test('does not replace a time outside the range by the observed time', () => {
    const far = '18446744073709551615';
    const { row } = rowOf(requestOf({ timeUnixNano: far, observedTimeUnixNano: time }));
    assert.deepEqual([row.timestamp, row.observedTimestamp], [-1n, BigInt(time)]);
  });

  test('completes severity word and number from each other', () => {
    const severityOf = (severityText: string, severityNumber: number) => {
      const { row, warnings } = rowOf(requestOf({ severityText, severityNumber }));
      return [row.severityText, row.severityNumber, ...Object.keys(warnings)];
    };
    assert.deepEqual(severityOf('', 0), ['', 0]);
    assert.deepEqual(severityOf('Warning', 0), ['WARNING', 13]);
    assert.deepEqual(severityOf('', 18), ['ERROR2', 18]);
    assert.deepEqual(severityOf('odd', 0), ['ODD', 0]);
    assert.deepEqual(severityOf('info', 17), ['INFO', 17]);
    assert.deepEqual(severityOf('', 99), ['FATAL4', 24, logWarnings.severityNumber]);
    assert.deepEqual(severityOf('debug', -4), ['DEBUG', 5, logWarnings.severityNumber]);
  });
});
