/** Theme and time zone, stored in this browser for all tabs. */
import { useSyncExternalStore } from 'react';
import type { Zone } from '../parts/text/time-text.ts';

export type Theme = 'system' | 'light' | 'dark';

export interface Preferences {
  readonly theme: Theme;
  readonly timeZone: Zone;
}

const storageKey = 'weir.preferences';
const defaults: Preferences = { theme: 'system', timeZone: 'local' };

let preferences = read();
const listeners = new Set<() => void>();

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, currentPreferences);
}

export function currentPreferences(): Preferences {
  return preferences;
}

export function changePreferences(change: Partial<Preferences>): void {
  apply({ ...preferences, ...change });
  localStorage.setItem(storageKey, JSON.stringify(preferences));
}

/** Applies what other tabs change. */
export function followPreferences(): void {
  addEventListener('storage', ({ key }) => key === storageKey && apply(read()));
}

function apply(next: Preferences): void {
  preferences = next;
  applyTheme();
  for (const listener of listeners) listener();
}

/** Called before the first paint and after each change. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = preferences.theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Preferences {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Preferences>;
    return { ...defaults, ...kept };
  } catch {
    return defaults;
  }
}
