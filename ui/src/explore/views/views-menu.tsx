/** Saved views: open, save, rename, overwrite, delete. */
import { useState } from 'react';
import type { SavedView } from '../../api/models.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { Popover } from '../../parts/controls/popover.tsx';
import { Answer } from '../../parts/feedback/answer.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { useToast } from '../../parts/feedback/toasts.tsx';
import type { ExploreQuery } from '../query.ts';
import { findView, toViewQuery } from './saved-view.ts';
import { useViewChange, useViews, type ViewChange } from './use-views.ts';
import { ViewRow } from './view-row.tsx';
import styles from './views-menu.module.css';

export interface ViewsMenuProps {
  readonly query: ExploreQuery;
  /** @param viewQuery as in the URL */
  readonly onOpen: (viewQuery: string) => void;
}

export function ViewsMenu({ query, onOpen }: ViewsMenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const views = useViews();
  const shown = findView(views.data ?? [], query);
  return (
    <Popover
      label={shown === undefined ? 'Saved views' : `Saved views: ${shown.name} is shown`}
      align="end"
      isOpen={isOpen}
      onOpenChange={setIsOpen}
      trigger={
        <>
          <Icon name="star" />
          <span className={styles.name}>
            {shown === undefined ? 'Views' : <LogText text={shown.name} />}
          </span>
        </>
      }
    >
      <div className={styles.panel}>
        <Answer of={views} what="Loading views">
          {(all) => (
            <Panel
              views={all}
              shown={shown}
              query={query}
              onOpen={(view) => {
                setIsOpen(false);
                onOpen(view.query);
              }}
            />
          )}
        </Answer>
      </div>
    </Popover>
  );
}

interface PanelProps {
  readonly views: readonly SavedView[];
  readonly shown: SavedView | undefined;
  readonly query: ExploreQuery;
  readonly onOpen: (view: SavedView) => void;
}

function Panel({ views, shown, query, onOpen }: PanelProps) {
  const { mutate, error, isPending } = useViewChange();
  const toast = useToast();
  const change = (wanted: ViewChange, news: string, onDone?: () => void) =>
    mutate(wanted, {
      onSuccess: () => {
        toast(news);
        onDone?.();
      },
    });
  return (
    <>
      {views.length === 0 ? (
        <p className="quiet">
          No views yet. Save a search that you use often; everyone with access to this account sees
          it.
        </p>
      ) : (
        <ul className={styles.views} aria-label="Saved views">
          {views.map((view) => (
            <ViewRow
              key={view.viewId}
              view={view}
              isShown={view === shown}
              onOpen={() => onOpen(view)}
              onRename={(name) =>
                change({ kind: 'rename', viewId: view.viewId, name }, `Renamed to ${name}`)
              }
              onOverwrite={() =>
                change(
                  { kind: 'overwrite', viewId: view.viewId, query: toViewQuery(query) },
                  `${view.name} now shows this search`,
                )
              }
              onDelete={() =>
                change({ kind: 'delete', viewId: view.viewId }, `Deleted ${view.name}`)
              }
            />
          ))}
        </ul>
      )}
      {error && <ProblemNotice error={error} />}
      {shown === undefined && (
        <SaveForm
          isBusy={isPending}
          onSave={(name, onDone) =>
            change({ kind: 'create', name, query: toViewQuery(query) }, `Saved ${name}`, onDone)
          }
        />
      )}
    </>
  );
}

interface SaveFormProps {
  readonly isBusy: boolean;
  readonly onSave: (name: string, onDone: () => void) => void;
}

function SaveForm({ isBusy, onSave }: SaveFormProps) {
  const [name, setName] = useState('');
  return (
    <form
      className={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onSave(name.trim(), () => setName(''));
      }}
    >
      <input
        aria-label="Name of the new view"
        placeholder="Save this search as…"
        maxLength={100}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Button type="submit" tone="primary" isDisabled={isBusy || name.trim() === ''}>
        Save
      </Button>
    </form>
  );
}
