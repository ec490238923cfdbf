/**
 * Keys that do things: a page registers what it listens to, and the help sheet shows what is
 * registered. Keys pressed while somebody writes are text, unless they say otherwise.
 */
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';

export interface Shortcut {
  /** As `KeyboardEvent.key` has it, such as `/`, `?`, `j`, `Escape`. */
  readonly key: string;
  readonly description: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Where the help sheet lists it. */
  readonly group: string;
  /** Also while a field has the focus; default only outside of fields. */
  readonly worksInFields?: boolean;
}

let registered: readonly Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Shortcut[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** In force while the component is shown. The list of keys must not change; what they do may. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  // Before the next key can be pressed: two in a row must not both start from the same state.
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

/** Called once, by the app. @returns how to stop */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isWriting = isField(event.target);
    // The last one registered is the innermost.
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
