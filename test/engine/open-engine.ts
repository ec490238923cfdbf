/** Opens an engine on the folder given, prints where it is or why not, and closes it when standard input ends. */
import { openEngine } from '../../src/engine/supervisor.ts';
import { silentEvents } from './harness.ts';

try {
  const engine = await openEngine({ dataDir: process.argv[2] ?? '' }, silentEvents());
  console.log(JSON.stringify({ pid: engine.pid, socketPath: engine.socketPath }));
  await process.stdin.resume().toArray();
  await engine.close();
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
}
