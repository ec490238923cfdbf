/** Caught values may be anything: converts them to text and errors. */

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Whether it is a Node error with one of these codes (`ENOENT`, `EADDRINUSE`). */
export function hasErrorCode(thrown: unknown, ...codes: readonly string[]): boolean {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && codes.includes(code);
}
