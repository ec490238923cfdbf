/** Keeps texts of objects within a bound, since nothing else counts their memory. */

/** What an entry takes besides its text. */
const entryCharacters = 50;

/**
 * @param toText of an object that does not change
 * @param mostCharacters of all texts; beyond it all are forgotten
 */
export function createTextMemo<Key extends object>(
  toText: (key: Key) => string,
  mostCharacters: number,
): (key: Key) => string {
  let texts = new WeakMap<Key, string>();
  let characters = 0;
  return (key) => {
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = toText(key);
    characters += text.length + entryCharacters;
    if (characters > mostCharacters) {
      texts = new WeakMap();
      characters = text.length + entryCharacters;
    }
    texts.set(key, text);
    return text;
  };
}
