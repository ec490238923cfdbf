/** React state stored in this browser. */
import { useState } from 'react';

/** @param first default when nothing valid is stored */
export function useKept<Value>(key: string, first: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => read(key, first));
  const keep = (next: Value) => {
    setValue(next);
    localStorage.setItem(key, JSON.stringify(next));
  };
  return [value, keep];
}

function read<Value>(key: string, first: Value): Value {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    const isSameKind = typeof kept === typeof first && Array.isArray(kept) === Array.isArray(first);
    return kept !== null && isSameKind ? (kept as Value) : first;
  } catch {
    return first;
  }
}
