/** Splits a long text into pieces for rendering. Pure. */
import { cutText } from './visible-text.ts';

export interface TextPiece {
  readonly text: string;
  readonly offset: number;
}

/**
 * Pieces of about this length, split after a line end in the second half of a piece if there is
 * one.
 */
export function splitText(text: string, pieceLength: number): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  while (from < text.length) {
    let piece = cutText(text.slice(from, from + pieceLength + 1), pieceLength);
    const lineEnd = piece.lastIndexOf('\n');
    const isRest = from + piece.length >= text.length;
    if (!isRest && lineEnd > pieceLength / 2) piece = piece.slice(0, lineEnd + 1);
    pieces.push({ text: piece, offset: from });
    from += piece.length;
  }
  return pieces;
}
