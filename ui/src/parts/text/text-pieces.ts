/** Splits a long text into pieces for rendering. Pure. */
import { cutText } from './visible-text.ts';

/**
 * Pieces of about this length, split after a line end in the second half of a piece if there is
 * one.
 */
export function splitText(text: string, pieceLength: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    let piece = cutText(text.slice(from, from + pieceLength + 1), pieceLength);
    const lineEnd = piece.lastIndexOf('\n');
    const isRest = from + piece.length >= text.length;
    if (!isRest && lineEnd > pieceLength / 2) piece = piece.slice(0, lineEnd + 1);
    pieces.push(piece);
    from += piece.length;
  }
  return pieces;
}
