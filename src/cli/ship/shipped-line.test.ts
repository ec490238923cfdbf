/** Events of lines that a container runtime has split, and whose streams are interleaved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinLines, type SourceLine, takeComplete } from './shipped-line.ts';

const options = { format: 'cri', start: (text: string) => text.startsWith('START') } as const;

function toLines(texts: readonly string[]): SourceLine[] {
  let from = 0;
  return texts.map((text, index) => {
    const line = { text: `2026-01-02T03:04:05Z ${text}`, number: index + 1, from, end: from + 100 };
    from = line.end;
    return line;
  });
}

test('an event ends after all its lines, though one of the other stream lies within', () => {
  const lines = toLines(['stdout P START a', 'stderr F b', 'stdout F a', 'stdout F START c']);
  const events = takeComplete(joinLines(lines, options), { maxEvents: 10, isFinal: false });
  assert.deepEqual(
    events.map(({ text, end }) => ({ text, end })),
    [{ text: 'START aa\nb', end: 300 }],
  );
});

test('an event waits for the rest of a line that continues it', () => {
  const begun = ['stdout F START a', 'stderr P b', 'stdout F START c'];
  const take = (texts: readonly string[]) =>
    takeComplete(joinLines(toLines(texts), options), { maxEvents: 10, isFinal: false });
  assert.deepEqual(take(begun), []);
  const events = take([...begun, 'stderr F b', 'stdout F START d']);
  assert.deepEqual(
    events.map(({ text }) => text),
    ['START a\nbb', 'START c'],
  );
});
