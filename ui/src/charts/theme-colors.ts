/** Colours of the design as a canvas needs them, again after each change of theme. */
import { useSyncExternalStore } from 'react';

/** @returns what resolves a custom property such as `--accent` to a colour; a new one per theme */
export function useThemeColors(): (property: string) => string {
  useSyncExternalStore(subscribe, currentTheme);
  return resolve;
}

/** Changes whenever the colours do: to be named among what a drawing depends on. */
export function useThemeKey(): string {
  return useSyncExternalStore(subscribe, currentTheme);
}

/** `light-dark()` is settled only in a property that is a colour. */
function resolve(property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function currentTheme(): string {
  const chosen = document.documentElement.dataset['theme'] ?? 'system';
  return chosen + (prefersDark().matches ? ' dark' : ' light');
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const media = prefersDark();
  media.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    media.removeEventListener('change', listener);
  };
}

function prefersDark(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}
