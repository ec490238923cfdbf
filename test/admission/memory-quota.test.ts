/** The quota store of one gateway, by the common contract, with a simulated clock. */
import { createMemoryQuota } from '../../src/admission/memory-quota.ts';
import { quotaContract } from './quota-contract.ts';

quotaContract('in memory', openMemory, { runs: 200, skip: false });

async function openMemory() {
  let ms = 0;
  return {
    store: createMemoryQuota(() => ms),
    pass: async (passed: number) => {
      ms += passed;
    },
    nowMs: () => ms,
    close: async () => {},
  };
}
