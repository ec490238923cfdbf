/** Keys that move through a list of logs wherever the focus is; the list itself takes arrows. */
import { useShortcuts } from '../../app/shortcuts.ts';
import type { LogSelection } from './use-log-selection.ts';

export interface GridKeyActions {
  /** The list takes the focus, so that Enter is its own and the active log is read out. */
  readonly focus: () => void;
  /** The active log, where the list can show its context. */
  readonly onContext?: () => void;
}

/** @param group in the help sheet */
export function useGridKeys(
  group: string,
  selection: LogSelection,
  { focus, onContext }: GridKeyActions,
): void {
  const move = (rows: number) => {
    selection.move(rows);
    focus();
  };
  useShortcuts([
    { key: 'j', group, description: 'Next log (↓ in the list)', run: () => move(1) },
    { key: 'k', group, description: 'Previous log (↑ in the list)', run: () => move(-1) },
    {
      key: 'o',
      group,
      description: 'Open or close the log (Enter in the list)',
      run: () => selection.toggleActive(),
    },
    { key: 'c', group, description: 'Show the log in context', run: () => onContext?.() },
  ]);
}
