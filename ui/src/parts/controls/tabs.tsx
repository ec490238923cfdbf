/** Tabs; arrow keys move between them. */
import { Tabs as BaseTabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import styles from './tabs.module.css';

export interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly content: ReactNode;
}

export interface TabsProps<Name extends string> {
  /** Accessible name. */
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly shown: Name;
  readonly onShow: (name: Name) => void;
  /** The tabs take the height of their parent. */
  readonly isFilling?: boolean;
  /** The tabs are a column, on a phone rows. */
  readonly isVertical?: boolean;
}

export function Tabs<Name extends string>({
  label,
  tabs,
  shown,
  onShow,
  isFilling,
  isVertical = false,
}: TabsProps<Name>) {
  return (
    <BaseTabs.Root
      className={styles.tabs}
      data-is-filling={isFilling}
      orientation={isVertical ? 'vertical' : 'horizontal'}
      value={shown}
      onValueChange={(name) => onShow(name as Name)}
    >
      <BaseTabs.List className={styles.list} aria-label={label} activateOnFocus>
        {tabs.map((tab) => (
          <BaseTabs.Tab key={tab.name} value={tab.name} className={styles.tab}>
            {tab.label}
          </BaseTabs.Tab>
        ))}
      </BaseTabs.List>
      {tabs.map((tab) => (
        <BaseTabs.Panel key={tab.name} value={tab.name} className={styles.panel}>
          {tab.content}
        </BaseTabs.Panel>
      ))}
    </BaseTabs.Root>
  );
}
