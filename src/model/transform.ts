/** The transform of a receiver: steps that change or drop its logs before they are stored. */

/** Finds logs by a field: a column such as `severity`, or a label. */
export interface FieldCondition {
  readonly field: string;
  /** The value, without regard to case. */
  readonly is?: string | undefined;
  /** An RE2 pattern that occurs in the value. */
  readonly matches?: string | undefined;
}

export const redactedKinds = ['card', 'email', 'token'] as const;
export type RedactedKind = (typeof redactedKinds)[number];

export type TransformStep =
  | {
      readonly type: 'parse';
      readonly format: 'json' | 'logfmt';
      /** Put before the name of each field, which then becomes a label. */
      readonly prefix: string;
    }
  | {
      readonly type: 'extract';
      /** An RE2 pattern; each named group becomes a field. */
      readonly pattern: string;
      readonly from: string;
    }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }
  | { readonly type: 'remove'; readonly fields: readonly string[] }
  | { readonly type: 'drop'; readonly where: FieldCondition }
  | {
      readonly type: 'redact';
      readonly kinds: readonly RedactedKind[];
      /** An RE2 pattern. */
      readonly pattern?: string | undefined;
      readonly replacement: string;
    }
  | {
      readonly type: 'sample';
      /** Share of the logs to keep, 0 to 1. */
      readonly share: number;
      /** Logs with the same value are kept or dropped together; absent = at random. */
      readonly by?: string | undefined;
      readonly where?: FieldCondition | undefined;
    };
