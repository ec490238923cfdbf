/** What a start finds wrong with the data folder as a whole. */
import type { Instruments } from './instruments.ts';

export interface DataFolderEvents {
  /** `lock.db` was damaged. It holds no data, and has been replaced. */
  lockMended(directory: string): void;
}

export function createDataFolderEvents({ log }: Instruments): DataFolderEvents {
  return {
    lockMended(directory) {
      log.error({ directory }, 'replaced a damaged lock.db, which holds no data: check the disk');
    },
  };
}
