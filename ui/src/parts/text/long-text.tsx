/**
 * Long text: the beginning at once, all of it on demand, in pieces. The parent isolates its
 * direction.
 */
import { type ReactNode, useMemo, useState } from 'react';
import { VisibleText } from './log-text.tsx';
import styles from './long-text.module.css';
import { formatCount } from './time-text.ts';
import { splitText } from './text-pieces.ts';
import { cutText } from './visible-text.ts';

export interface LongTextProps {
  readonly text: string;
  /** Characters shown at once; default 5,000. */
  readonly maxLength?: number;
  /** Renders a piece, which begins at `offset`; default `VisibleText`. */
  readonly render?: (piece: string, offset: number) => ReactNode;
}

const pieceLength = 10_000;

export function LongText({ text, maxLength = 5_000, render = renderPlain }: LongTextProps) {
  const [isWhole, setIsWhole] = useState(false);
  const pieces = useMemo(() => (isWhole ? splitText(text, pieceLength) : []), [text, isWhole]);
  if (text.length <= maxLength) return render(text, 0);
  return (
    <>
      {!isWhole && render(cutText(text, maxLength), 0)}
      {pieces.map(({ text: piece, offset }) => (
        // `content-visibility` lays out visible pieces only.
        <span key={offset} className={styles.piece}>
          {render(piece, offset)}
        </span>
      ))}
      <button type="button" className={styles.more} onClick={() => setIsWhole(!isWhole)}>
        {isWhole ? 'Show the beginning only' : `Show all ${formatCount(text.length)} characters`}
      </button>
    </>
  );
}

function renderPlain(piece: string): ReactNode {
  return <VisibleText text={piece} />;
}
