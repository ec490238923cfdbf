/**
 * Queries and mutations of the management pages: accounts, streams, receivers, tokens. Each
 * mutation invalidates all of them, because they refer to each other.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { type FieldFaults, toFieldFaults } from './field-faults.ts';

const control = 'control';

export function useAccounts() {
  const { api } = useApp();
  return useQuery({
    queryKey: [control, 'accounts'],
    queryFn: async () => sortByName((await dataOf(api.GET('/api/v1/admin/accounts'))).accounts),
  });
}

export function useStreams() {
  const { api } = useApp();
  return useQuery({
    queryKey: [control, 'streams'],
    queryFn: async () => sortByName((await dataOf(api.GET('/api/v1/admin/streams'))).streams),
  });
}

export function useReceivers() {
  const { api } = useApp();
  return useQuery({
    queryKey: [control, 'receivers'],
    queryFn: async () => sortByName((await dataOf(api.GET('/api/v1/admin/receivers'))).receivers),
  });
}

export function useReceiver(receiverId: string) {
  const { api } = useApp();
  return useQuery({
    queryKey: [control, 'receiver', receiverId],
    queryFn: () =>
      dataOf(api.GET('/api/v1/admin/receivers/{receiverId}', { params: { path: { receiverId } } })),
  });
}

export function useTokens() {
  const { api } = useApp();
  return useQuery({
    queryKey: [control, 'tokens'],
    queryFn: async () => (await dataOf(api.GET('/api/v1/admin/tokens'))).tokens,
    // `lastUsedAt` changes over time.
    refetchInterval: 30_000,
  });
}

export interface Change<Input, Output> {
  /** Ignored while a call is running, so that a double click acts once. */
  readonly start: (input: Input) => void;
  readonly isBusy: boolean;
  /** Result of the last call. */
  readonly data: Output | undefined;
  /** null = no error. */
  readonly error: Error | null;
  /** The error by fields of the input. */
  readonly faults: FieldFaults;
  /** Clears the error. */
  readonly reset: () => void;
}

/** @param onDone called on success, before the queries reload */
export function useChange<Input, Output>(
  run: (input: Input) => Promise<Output>,
  onDone: (output: Output, input: Input) => void,
): Change<Input, Output> {
  const client = useQueryClient();
  const isUnderWay = useRef(false);
  const { mutate, isPending, data, error, reset } = useMutation({
    mutationFn: run,
    onSuccess: onDone,
    onSettled: () => {
      isUnderWay.current = false;
      // Not awaited: the mutation has succeeded.
      void client.invalidateQueries({ queryKey: [control] });
    },
  });
  return {
    start: (input) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      mutate(input);
    },
    isBusy: isPending,
    data,
    error,
    faults: toFieldFaults(error),
    reset,
  };
}

const byName = new Intl.Collator('en', { numeric: true }).compare;

function sortByName<Named extends { readonly name: string }>(things: readonly Named[]): Named[] {
  return things.toSorted((a, b) => byName(a.name, b.name));
}
