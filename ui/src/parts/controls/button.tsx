/** Button in the tones of the design. */
import type { ReactNode, Ref } from 'react';
import styles from './button.module.css';

export interface ButtonProps {
  readonly children: ReactNode;
  /** `bare` has no frame until hovered: for icons. Default `quiet`. */
  readonly tone?: 'primary' | 'quiet' | 'danger' | 'bare';
  /** Accessible name and tooltip, for buttons without text. */
  readonly label?: string;
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  /** For toggle buttons. */
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
