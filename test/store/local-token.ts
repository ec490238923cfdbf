/** The fencing token of a queue with a single drain. */
import type { FencingToken } from '../../src/model/fencing-token.ts';

export const localToken: FencingToken = { shard: 'local', epoch: 0n };
