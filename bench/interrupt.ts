/** Cleaning up when the benchmark is interrupted. */

export interface Interruption {
  /** Restores the default behaviour. */
  cancel(): void;
}

/**
 * On SIGINT or SIGTERM runs `cleanUp` and exits with 130. Further signals are ignored: npm forwards
 * a SIGINT that the terminal has already sent.
 */
export function onInterrupt(cleanUp: () => Promise<void>): Interruption {
  let isInterrupted = false;
  const interrupt = () => {
    if (isInterrupted) return;
    isInterrupted = true;
    cleanUp()
      .catch((error: unknown) => console.error(error))
      .finally(() => process.exit(130));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return {
    cancel: () => {
      if (isInterrupted) return;
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}
