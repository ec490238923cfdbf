/** One saved view in the menu, or its rename field. */
import { useState } from 'react';
import type { SavedView } from '../../api/models.ts';
import { Button } from '../../parts/controls/button.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { Menu } from '../../parts/controls/menu.tsx';
import { toVisibleText } from '../../parts/text/visible-text.ts';
import styles from './view-row.module.css';

export interface ViewRowProps {
  readonly view: SavedView;
  /** The view matches the page. */
  readonly isShown: boolean;
  readonly onOpen: () => void;
  readonly onRename: (name: string) => void;
  readonly onOverwrite: () => void;
  readonly onDelete: () => void;
}

type Mode = 'view' | 'rename' | 'delete';

export function ViewRow(props: ViewRowProps) {
  const { view, isShown, onOpen } = props;
  /** Undefined until another mode was left. */
  const [mode, setMode] = useState<Mode>();
  const name = toVisibleText(view.name);
  if (mode === 'rename') return <Rename {...props} onDone={() => setMode('view')} />;
  if (mode === 'delete') {
    return (
      <li className={styles.row}>
        <span className={styles.question}>Delete {name} for everyone?</span>
        <Button tone="danger" onPress={props.onDelete}>
          Delete
        </Button>
        <Button onPress={() => setMode('view')}>Keep</Button>
      </li>
    );
  }
  return (
    <li className={styles.row}>
      <button
        type="button"
        className={styles.open}
        autoFocus={mode === 'view'}
        aria-current={isShown ? 'true' : undefined}
        onClick={onOpen}
      >
        <LogText text={view.name} />
      </button>
      <Menu
        label={`More for ${name}`}
        items={[
          ...(isShown ? [] : [{ label: 'Overwrite with this search', onPick: props.onOverwrite }]),
          { label: 'Rename', onPick: () => setMode('rename') },
          { label: 'Delete', onPick: () => setMode('delete'), isDangerous: true },
        ]}
      />
    </li>
  );
}

function Rename({ view, onRename, onDone }: ViewRowProps & { readonly onDone: () => void }) {
  const [name, setName] = useState(view.name);
  return (
    <li>
      <form
        className={styles.row}
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === '') return;
          if (name.trim() !== view.name) onRename(name.trim());
          onDone();
        }}
      >
        <input
          className={styles.rename}
          aria-label={`New name of ${toVisibleText(view.name)}`}
          autoFocus
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            // Escape cancels the rename, not the menu.
            event.stopPropagation();
            onDone();
          }}
        />
        <Button type="submit">Rename</Button>
      </form>
    </li>
  );
}
