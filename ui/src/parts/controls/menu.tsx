/** Menu behind a button, with three dots by default. */
import { Menu as BaseMenu } from '@base-ui/react/menu';
import { Icon, type IconName } from './icon.tsx';
import styles from './menu.module.css';

export interface MenuItem {
  readonly label: string;
  readonly onPick: () => void;
  readonly isDangerous?: boolean;
}

export interface MenuProps {
  /** Accessible name of the button, such as `More for checkout`. */
  readonly label: string;
  readonly icon?: IconName;
  readonly items: readonly MenuItem[];
  /** As high as a line of text. */
  readonly isSmall?: boolean;
}

export function Menu({ label, icon = 'more', items, isSmall = false }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger
        className={isSmall ? styles.small : styles.trigger}
        aria-label={label}
        title={label}
      >
        <Icon name={icon} />
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner className={styles.positioner} align="end" sideOffset={4}>
          <BaseMenu.Popup className={styles.popup}>
            {items.map((item) => (
              <BaseMenu.Item
                key={item.label}
                className={item.isDangerous ? styles.danger : styles.item}
                onClick={item.onPick}
              >
                {item.label}
              </BaseMenu.Item>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}
