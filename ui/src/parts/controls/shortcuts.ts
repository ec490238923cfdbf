/**
 * Keyboard shortcuts: a page registers its keys, and the help sheet lists them. Ignored while a
 * field has the focus, and while a sheet is open in front of them, unless they opt in.
 */
import { createContext, useContext, useEffect, useEffectEvent, useSyncExternalStore } from 'react';

export interface Shortcut {
  /** A `KeyboardEvent.key`, such as `/`, `?`, `j`, `Escape`. */
  readonly key: string;
  readonly description: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Group in the help sheet. */
  readonly group: string;
  /** Also while a sheet is open in front; default false. */
  readonly worksBehindSheets?: boolean;
}

/** How many sheets are open up to the one that a component is in. */
export const SheetDepth = createContext(0);

interface Registered {
  readonly depth: number;
  readonly shortcuts: readonly Shortcut[];
}

let registered: readonly Registered[] = [];
/** Of all that are registered. */
let shortcuts: readonly Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Registered[]): void {
  registered = next;
  shortcuts = next.flatMap((one) => one.shortcuts);
  for (const listener of listeners) listener();
}

/** Active while the component is mounted. The list of keys must not change; the handlers may. */
export function useShortcuts(wanted: readonly Shortcut[]): void {
  const depth = useContext(SheetDepth);
  const run = useEffectEvent((at: number, event: KeyboardEvent) => wanted[at]?.run(event));
  useEffect(() => {
    const own = {
      depth,
      shortcuts: wanted.map((one, at) => ({
        ...one,
        run: (event: KeyboardEvent) => run(at, event),
      })),
    };
    change([...registered, own]);
    return () => change(registered.filter((one) => one !== own));
  }, [depth]);
}

export function useRegisteredShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(subscribe, () => shortcuts);
}

/** The `SheetDepth` of the sheet in front; 0 where none is open. */
export function frontDepth(): number {
  return Math.max(0, ...registered.map(({ depth }) => depth));
}

/** Called once, by the app. @returns stops listening */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // The path sees into shadow roots.
    if (isField(event.composedPath()[0] ?? null)) return;
    const front = frontDepth();
    // The last registered component is the innermost.
    const found = registered
      .flatMap(({ depth, shortcuts: own }) =>
        own.filter(({ worksBehindSheets }) => depth === front || worksBehindSheets),
      )
      .findLast(({ key }) => key === event.key);
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
