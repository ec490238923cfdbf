/** Waiting for the first of several signals. */

export function untilAborted(signals: readonly AbortSignal[]): Promise<void> {
  const first = AbortSignal.any([...signals]);
  if (first.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    first.addEventListener('abort', () => resolve(), { once: true });
  });
}
