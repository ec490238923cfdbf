/** A button in one of the tones of the design. */
import type { ReactNode, Ref } from 'react';
import styles from './button.module.css';

export interface ButtonProps {
  readonly children: ReactNode;
  /** `bare` shows no frame until it is pointed at: for icons. Default `quiet`. */
  readonly tone?: 'primary' | 'quiet' | 'danger' | 'bare';
  /** What it does, where its content is no text; shown as a tip as well. */
  readonly label?: string;
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  /** For a button that stays pressed. */
  readonly isPressed?: boolean;
  readonly onPress?: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  children,
  tone = 'quiet',
  label,
  type = 'button',
  isDisabled,
  isPressed,
  onPress,
  ref,
}: ButtonProps) {
  return (
    <button
      ref={ref}
      type={type}
      className={styles[tone]}
      aria-label={label}
      title={label}
      disabled={isDisabled}
      aria-pressed={isPressed}
      onClick={onPress}
    >
      {children}
    </button>
  );
}
