/** Theme colours for a canvas, which does not follow CSS. */
import { useSyncExternalStore } from 'react';

/** @returns resolves a custom property such as `--accent` to a colour; a new function per theme */
export function useThemeColors(): (property: string) => string {
  useSyncExternalStore(subscribe, currentTheme);
  return resolve;
}

/** Changes with the colours: a dependency of every drawing. */
export function useThemeKey(): string {
  return useSyncExternalStore(subscribe, currentTheme);
}

/** `light-dark()` resolves only in a colour property. */
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
