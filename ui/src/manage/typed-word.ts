/** What has to be typed before data goes. Pure. */
import { toVisibleParts } from '../parts/text/visible-text.ts';

const maxLength = 40;

/** The name, unless nobody could type it: what hides in it, or its length, would be in the way. */
export function toTypedWord(name: string): string {
  const isPlain = toVisibleParts(name).every((part) => typeof part === 'string');
  return isPlain && name.length <= maxLength && name.trim() !== '' ? name.trim() : 'delete';
}
