/** The table of /proc/net/udp. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countDrops } from './kernel-drops.ts';

const head =
  '   sl  local_address rem_address   st tx_queue rx_queue inode ref pointer drops            ';
const rest = '00000000:0202 07 00000000:00000000 3126297 2 000000002df4e348';
const table = [
  head,
  ` 2570: 0100007F:0202 ${rest} 7        `,
  ` 2571: 00000000:0202 ${rest} 5        `,
  ` 2670: 0100007F:1202 ${rest} 9        `,
  '',
].join('\n');

test('adds up the drops of a local port', () => {
  assert.equal(countDrops(table, 0x202), 12);
  assert.equal(countDrops(table, 0x20), 0);
  assert.equal(countDrops('', 514), 0);
});
