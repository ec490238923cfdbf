/** Theme colours for a canvas, which does not follow CSS. */
import { useCallback, useSyncExternalStore } from 'react';
import { useMedia } from '../parts/layout/use-media.ts';

/** @returns resolves a custom property such as `--accent` to a colour; a new function per theme */
export function useThemeColors(): (property: string) => string {
  const chosen = useSyncExternalStore(subscribe, () => document.documentElement.dataset['theme']);
  const prefersDark = useMedia('(prefers-color-scheme: dark)');
  return useCallback((property) => resolve(property), [chosen, prefersDark]);
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

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}
