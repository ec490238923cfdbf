/** Bombs in journals as of systemd, whose entries are cut. */
import { type Bomb, jsonAround, mebibyte, repeated } from './payloads.ts';
import type { Sent } from './send.ts';

const toJournal = (body: Buffer): Sent => ({
  way: 'journal',
  headers: { 'content-type': 'application/vnd.fdo.journal' },
  body,
});

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes));
  return length;
}

export const journalBombs: readonly Bomb[] = [
  {
    name: 'a journal with a field of 64 MiB of text',
    expected: [200],
    make: () => toJournal(jsonAround('MESSAGE=', 'x', '\n\n', 64 * mebibyte)),
  },
  {
    name: 'a journal with a field of 64 MiB of data',
    expected: [200],
    make: () => {
      const data = Buffer.alloc(64 * mebibyte);
      return toJournal(
        Buffer.concat([Buffer.from('A\n'), lengthOf(data.length), data, Buffer.from('\n\n')]),
      );
    },
  },
  {
    name: 'a journal with a field that says 4 PiB',
    expected: [400],
    make: () =>
      toJournal(Buffer.concat([Buffer.from('A\n'), lengthOf(2 ** 52), Buffer.alloc(mebibyte)])),
  },
  {
    name: 'a journal with a name of 10 MiB',
    expected: [400],
    make: () => toJournal(repeated('A', 10 * mebibyte)),
  },
  {
    name: 'an entry of a journal with ten million fields',
    expected: [200],
    make: () => toJournal(repeated('a=\n', 30 * mebibyte)),
  },
  {
    name: 'a journal of a hundred thousand entries',
    expected: [200],
    make: () => toJournal(repeated('a=\n\n', 400_000)),
  },
];
