/**
 * A process for tests: creates accounts and prints the name of each after its write. It retries
 * what is unavailable, as a client does: on a busy machine the others may hold the lock for long.
 */
import { writeSync } from 'node:fs';
import { AppError } from '../../src/model/errors.ts';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';

const [file, count] = process.argv.slice(2);
if (file === undefined || count === undefined) throw new Error('usage: account-writer FILE COUNT');
const directory = await retried(() => openSqliteDirectory({ file }));
for (let i = 0; i < Number(count); i += 1) {
  const name = `${process.pid}-${i}`;
  await retried(() => directory.createAccount({ name, eventsPerSecond: null }));
  writeSync(1, `${name}\n`);
}
await directory.close();

async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    }
  }
}
