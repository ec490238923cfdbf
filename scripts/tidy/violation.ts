/** What a layout rule found, and how it is printed. */

export interface Violation {
  readonly path: string;
  /** One-based. */
  readonly line: number;
  /** Short name of the rule. */
  readonly rule: string;
  /** What is banned, and what to use in its place. */
  readonly message: string;
}

export function formatViolation({ path, line, rule, message }: Violation): string {
  return `${path}:${line} [${rule}] ${message}`;
}
