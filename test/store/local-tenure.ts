/** The one holder of a queue that nobody else drains. */
import type { Tenure } from '../../src/model/tenure.ts';

export const localTenure: Tenure = { shard: 'local', epoch: 0n };
