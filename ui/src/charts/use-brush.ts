/**
 * Selection of bars by pointer (click or drag) and keyboard (arrows move, Shift extends, Enter
 * applies, Escape cancels). Counts buckets, not times.
 */
import { type KeyboardEvent, type PointerEvent, useEffect, useState } from 'react';

/** First and last bucket, inclusive. */
export interface BucketSpan {
  readonly first: number;
  readonly last: number;
}

export interface Brush {
  /** The hovered bucket. */
  readonly pointed: number | undefined;
  /** The current selection. */
  readonly chosen: BucketSpan | undefined;
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerUp: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerCancel: () => void;
    readonly onPointerLeave: () => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
    readonly onBlur: () => void;
  };
}

interface Choice {
  readonly anchor: number;
  readonly by: 'pointer' | 'keys';
}

export function useBrush(buckets: number, onChoose?: (span: BucketSpan) => void): Brush {
  const [pointed, setPointed] = useState<number>();
  const [choice, setChoice] = useState<Choice>();
  const isDragging = choice?.by === 'pointer';
  const giveUp = () => setChoice(undefined);

  // During a drag the focus may be elsewhere.
  useEffect(() => {
    if (!isDragging) return;
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      setChoice(undefined);
    };
    window.addEventListener('keydown', listen, { capture: true });
    return () => window.removeEventListener('keydown', listen, { capture: true });
  }, [isDragging]);

  // An answer for another range may have fewer.
  const within = (bucket: number) => Math.min(bucket, buckets - 1);
  const at = within(pointed ?? buckets - 1);
  const chosen = choice && spanOf(within(choice.anchor), at);
  const take = (span: BucketSpan) => {
    giveUp();
    onChoose?.(span);
  };

  const moveByKey = (event: KeyboardEvent<HTMLElement>) => {
    const target = placeByKey(event.key, at, buckets);
    if (target !== undefined) {
      setPointed(pointed === undefined && event.key.startsWith('Arrow') ? at : target);
      if (!event.shiftKey) giveUp();
      else if (onChoose) setChoice((before) => before ?? { anchor: at, by: 'keys' });
    } else if (event.key === 'Enter') take(chosen ?? { first: at, last: at });
    else if (event.key === 'Escape' && choice !== undefined) giveUp();
    else return;
    event.preventDefault();
  };

  return {
    pointed: pointed === undefined ? undefined : at,
    chosen,
    handlers: {
      onPointerDown(event) {
        if (event.button !== 0 || onChoose === undefined) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const bucket = bucketAt(event, buckets);
        setPointed(bucket);
        setChoice({ anchor: bucket, by: 'pointer' });
      },
      onPointerMove: (event) => setPointed(bucketAt(event, buckets)),
      onPointerUp(event) {
        if (isDragging) take(spanOf(choice.anchor, bucketAt(event, buckets)));
      },
      onPointerCancel: giveUp,
      onPointerLeave() {
        if (!isDragging) setPointed(undefined);
      },
      onKeyDown: moveByKey,
      onBlur() {
        if (isDragging) return;
        setPointed(undefined);
        giveUp();
      },
    },
  };
}

function spanOf(anchor: number, at: number): BucketSpan {
  return { first: Math.min(anchor, at), last: Math.max(anchor, at) };
}

function bucketAt({ clientX, currentTarget }: PointerEvent<HTMLElement>, buckets: number): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  const bucket = Math.floor(((clientX - left) / Math.max(1, width)) * buckets);
  return Math.max(0, Math.min(buckets - 1, bucket));
}

/** Where a key moves to among `count` places; undefined for other keys. */
export function placeByKey(key: string, at: number, count: number): number | undefined {
  const page = Math.max(1, Math.round(count / 10));
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    PageDown: at - page,
    PageUp: at + page,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  if (target === undefined || count === 0) return undefined;
  return Math.max(0, Math.min(count - 1, target));
}
