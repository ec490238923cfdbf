/**
 * Keyboard shortcuts: a page registers its keys, and the help sheet lists them. Ignored while a
 * field has the focus, unless they opt in.
 */
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';

export interface Shortcut {
  /** A `KeyboardEvent.key`, such as `/`, `?`, `j`, `Escape`. */
  readonly key: string;
  readonly description: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Group in the help sheet. */
  readonly group: string;
  /** Also while a field has the focus; default false. */
  readonly worksInFields?: boolean;
}

let registered: readonly Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Shortcut[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** Active while the component is mounted. The list of keys must not change; the handlers may. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  // A layout effect, so that two quick key presses do not see the same state.
  useLayoutEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    const own = latest.current.map((shortcut, index) => ({
      ...shortcut,
      run: (event: KeyboardEvent) => latest.current[index]?.run(event),
    }));
    change([...registered, ...own]);
    return () => change(registered.filter((shortcut) => !own.includes(shortcut)));
  }, []);
}

export function useRegisteredShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(subscribe, () => registered);
}

/** Called once, by the app. @returns stops listening */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // The path sees into shadow roots.
    const isWriting = isField(event.composedPath()[0] ?? null);
    // The last registered component is the innermost.
    const found = registered.findLast(
      ({ key, worksInFields = false }) => key === event.key && (worksInFields || !isWriting),
    );
    if (found === undefined) return;
    event.preventDefault();
    found.run(event);
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
