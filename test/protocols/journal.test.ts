/** Entries of a journal of systemd: what becomes of their fields. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { configSchema } from '../../src/config/schema.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { createProtocols } from '../../src/service/protocols.ts';
import { readLogRows } from './read-log-rows.ts';
import { dataField } from '../harness/journal-field.ts';

const journal = createProtocols(configSchema.parse({})).find(({ name }) => name === 'journal')!;
const format = {
  mediaType: '',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

async function decode(body: string | Buffer) {
  const { limits } = journal;
  const context = { limits, nowMs: 0, series: blankSeriesView };
  const { warnings, ...batch } = await journal.decode(Buffer.from(body), format, context);
  return { rows: readLogRows(batch.payload), warnings: [...(warnings ?? [])] };
}

suite('decoding', () => {
  test('an entry with text and data', async () => {
    const { rows } = await decode(
      '__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1795341600123456\n__MONOTONIC_TIMESTAMP=7\n' +
        `PRIORITY=3\n_HOSTNAME=web-1\nSYSLOG_IDENTIFIER=shop\n_SYSTEMD_UNIT=shop.service\n` +
        `${dataField('MESSAGE', 'failed\n\nat a')}CODE=1\nCODE=2\nEMPTY=\n\n`,
    );
    const [row] = rows;
    assert.ok(row);
    assert.deepEqual(
      [row.body, row.host, row.severityText, row.severityNumber, row.serviceName],
      ['failed\n\nat a', 'web-1', 'ERR', 17, 'shop'],
    );
    assert.equal(row.timestamp, 1_795_341_600_123_456_000n);
    assert.deepEqual(
      row.logAttributes,
      new Map([
        ['_SYSTEMD_UNIT', 'shop.service'],
        ['CODE', '["1","2"]'],
        ['EMPTY', ''],
      ]),
    );
  });

  test('entries that are skipped are counted without empty lines', () => {
    const body = Buffer.from('A=1\n\n\nA=2\n\n\n\n');
    const { rest, skipped } = journal.steps!.skip(body, 3);
    assert.deepEqual([rest.length, skipped], [0, 2]);
    assert.equal(journal.steps!.skip(body, 1).rest.toString().trim(), 'A=2');
  });

  test('an entry without an identifier, and one with too many labels', async () => {
    const many = Array.from({ length: 1200 }, (_, n) => `L${n}=1\n`).join('');
    const { rows, warnings } = await decode(`\n\n_SYSTEMD_UNIT=a.service\n\nMESSAGE=x\n${many}`);
    assert.deepEqual(
      rows.map(({ serviceName, body, logAttributes }) => [
        serviceName,
        body,
        (logAttributes as Map<string, string>).size,
      ]),
      [
        ['a.service', '', 1],
        ['', 'x', 1000],
      ],
    );
    assert.deepEqual(warnings, [['a field or an entry that is too long: cut', 1]]);
  });

  for (const [name, body] of [
    ['no name', '=x\n\n'],
    ['a name alone', 'MESSAGE'],
    ['a part of a length', 'MESSAGE\n\x01\0\0'],
    ['less data than its length', 'MESSAGE\n\x09\0\0\0\0\0\0\0x\n\n'],
    ['more data than its length', 'MESSAGE\n\x01\0\0\0\0\0\0\0xy\n\n'],
    ['data without a line break', 'MESSAGE\n\x01\0\0\0\0\0\0\0x'],
    ['a length of 16 EiB', `MESSAGE\n${'\xff'.repeat(8)}x\n\n`],
  ] as const) {
    test(`refuses a field with ${name}`, () =>
      assert.rejects(decode(Buffer.from(`A=1\n\n${body}`, 'latin1')), { code: 'malformed' }));
  }
});
