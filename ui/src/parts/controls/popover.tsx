/** A button that opens a small panel beside it; Escape or a press outside closes it. */
import { Popover as BasePopover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import styles from './popover.module.css';

export interface PopoverProps {
  /** What is on the button. */
  readonly trigger: ReactNode;
  /** What the button does, and the name of the panel. */
  readonly label: string;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly children: ReactNode;
  /** Default `quiet`; `bare` shows no frame until it is pointed at. */
  readonly tone?: 'quiet' | 'bare';
  /** Edge of the button that the panel is aligned with; default `start`. */
  readonly align?: 'start' | 'end';
}

export function Popover(props: PopoverProps) {
  const { trigger, label, isOpen, onOpenChange, children, tone = 'quiet', align = 'start' } = props;
  return (
    <BasePopover.Root open={isOpen} onOpenChange={onOpenChange}>
      <BasePopover.Trigger className={styles[tone]} aria-label={label} title={label}>
        {trigger}
      </BasePopover.Trigger>
      <BasePopover.Portal>
        <BasePopover.Positioner
          className={styles.positioner}
          align={align}
          sideOffset={4}
          collisionPadding={8}
        >
          <BasePopover.Popup className={styles.popup} aria-label={label}>
            {children}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  );
}
