/** CSV parser after RFC 4180 §2, independent of Weir's code. */
import assert from 'node:assert/strict';

/** Records of cells. @throws AssertionError for invalid CSV */
export function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at++) {
        assert.ok(at < text.length, 'a quoted cell has no end');
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else {
      for (; at < text.length && !',\r\n"'.includes(text[at]!); at++) cell += text[at];
    }
    cells.push(cell);
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    assert.equal(text.slice(at, at + 2), '\r\n', 'a record ends in CRLF');
    at += 2;
    records.push(cells);
    cells = [];
  }
  assert.deepEqual(cells, []);
  return records;
}
