/** The one holder of a queue that nobody else drains. */
import type { FencingToken } from '../../src/model/fencing-token.ts';

export const localToken: FencingToken = { shard: 'local', epoch: 0n };
