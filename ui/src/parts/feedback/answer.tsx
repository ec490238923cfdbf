/** The answer of a read, or why there is none. */
import type { ReactNode } from 'react';
import { Loading } from './loading.tsx';
import { ProblemNotice } from './problem-notice.tsx';

/** What a query hook returns. */
interface Read<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
}

export interface AnswerProps<Data> {
  readonly of: Read<Data>;
  /** Read to those who cannot see, such as `Loading tokens`. */
  readonly what: string;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what was read before while a later read fails. */
export function Answer<Data>({ of, what, children }: AnswerProps<Data>) {
  return (
    <>
      <Failure of={of} />
      {of.data === undefined ? of.error === null && <Loading what={what} /> : children(of.data)}
    </>
  );
}

/** The error of a read; nothing without one. */
export function Failure({ of: { error, refetch } }: { readonly of: Read<unknown> }) {
  return error && <ProblemNotice error={error} onRetry={() => void refetch()} />;
}
