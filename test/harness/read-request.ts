/** A read request as the edge passes it to a handler. */
import type { ReadRequest } from '../../src/model/read-route.ts';

export function toReadRequest(
  accountId: string,
  query: string | Record<string, string>,
  others: Partial<ReadRequest>,
): ReadRequest {
  return {
    accountId,
    tokenDigest: '',
    search: new URLSearchParams(query),
    params: {},
    body: new Uint8Array(),
    lastEventId: undefined,
    signal: new AbortController().signal,
    recheck: async () => {},
    ...others,
  };
}
