/** The last queries of this browser, newest first. */

const key = 'weir.queries';
const maxQueries = 50;

export function recentQueries(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

export function keepQuery(text: string): void {
  if (text === '') return;
  const others = recentQueries().filter((one) => one !== text);
  localStorage.setItem(key, JSON.stringify([text, ...others].slice(0, maxQueries)));
}
