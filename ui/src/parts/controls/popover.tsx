/** Button that opens a panel; Escape or a click outside closes it. */
import { Popover as BasePopover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import styles from './popover.module.css';

export interface PopoverProps {
  /** Content of the button. */
  readonly trigger: ReactNode;
  /** Accessible name of the button and the panel. */
  readonly label: string;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly children: ReactNode;
  /** Default `quiet`; `bare` has no frame until hovered. */
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
