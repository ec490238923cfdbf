/** Keys that move through the list wherever the focus is; arrow keys work in the list itself. */
import { useShortcuts } from '../../parts/controls/shortcuts.ts';
import type { LogSelection } from './use-log-selection.ts';

export interface GridKeyActions {
  /** Focuses the list, so that Enter and the screen reader act on the active log. */
  readonly focus: () => void;
  /** Opens the context of the active log; absent = not supported. */
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
    ...(onContext === undefined
      ? []
      : [{ key: 'c', group, description: 'Show the log in context', run: onContext }]),
  ]);
}
