/** Help: the keys of this page. */
import { Sheet } from '../parts/layout/sheet.tsx';
import styles from './help-sheet.module.css';
import { type Shortcut, useRegisteredShortcuts } from '../parts/controls/shortcuts.ts';

export function HelpSheet({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const groups = Map.groupBy(useRegisteredShortcuts(), ({ group }) => group);
  return (
    <Sheet title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose}>
      {[...groups].map(([group, shortcuts]) => (
        <section key={group} className={styles.group}>
          <h3>{group}</h3>
          <dl className={styles.keys}>
            {shortcuts.map((shortcut) => (
              <Row key={shortcut.key + shortcut.description} shortcut={shortcut} />
            ))}
          </dl>
        </section>
      ))}
    </Sheet>
  );
}

const spoken: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Escape: 'Esc',
  ' ': 'Space',
};

function Row({ shortcut: { key, description } }: { shortcut: Shortcut }) {
  return (
    <>
      <dt>
        <kbd>{spoken[key] ?? key}</kbd>
      </dt>
      <dd>{description}</dd>
    </>
  );
}
