/** A process for tests: creates accounts and prints the name of each after its write. */
import { writeSync } from 'node:fs';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';

const [file, count] = process.argv.slice(2);
if (file === undefined || count === undefined) throw new Error('usage: account-writer FILE COUNT');
const directory = await openSqliteDirectory({ file });
for (let i = 0; i < Number(count); i += 1) {
  const name = `${process.pid}-${i}`;
  await directory.createAccount({ name, eventsPerSecond: null });
  writeSync(1, `${name}\n`);
}
await directory.close();
