/** The word to type before data is deleted. Pure. */
import { toVisibleParts } from '../parts/text/visible-text.ts';

const maxLength = 40;

/** The name, unless invisible characters or its length make it impractical to type. */
export function toTypedWord(name: string): string {
  const isPlain = toVisibleParts(name).every((part) => typeof part === 'string');
  return isPlain && name.length <= maxLength && name.trim() !== '' ? name.trim() : 'delete';
}
