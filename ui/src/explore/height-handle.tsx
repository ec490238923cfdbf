/** The lower edge of a panel: dragging it or the arrow keys change the height. */
import { useRef } from 'react';
import styles from './histogram-panel.module.css';

export interface HeightHandleProps {
  /** Accessible name. */
  readonly label: string;
  /** Pixels. */
  readonly height: number;
  readonly min: number;
  readonly max: number;
  readonly onHeight: (height: number) => void;
}

const keySteps: Readonly<Record<string, number>> = { ArrowUp: -16, ArrowDown: 16 };

export function HeightHandle({ label, height, min, max, onHeight }: HeightHandleProps) {
  const grabbed = useRef<{ y: number; height: number }>(undefined);
  const resize = (wanted: number) => onHeight(Math.round(Math.max(min, Math.min(max, wanted))));
  return (
    <div
      className={styles.handle}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={height}
      title="Drag to change the height"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        grabbed.current = { y: event.clientY, height };
      }}
      onPointerMove={({ clientY }) => {
        if (grabbed.current) resize(grabbed.current.height + clientY - grabbed.current.y);
      }}
      onLostPointerCapture={() => {
        grabbed.current = undefined;
      }}
      onKeyDown={(event) => {
        const step = keySteps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        resize(height + step);
      }}
    />
  );
}
