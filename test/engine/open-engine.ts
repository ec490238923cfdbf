/**
 * Opens an engine on the given folder, prints its address or the error, and closes it when standard
 * input ends.
 */
import { openEngine } from '../../src/engine/supervisor.ts';
import { createEngineEvents } from '../../src/telemetry/store-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';

const events = createEngineEvents(createInstruments('silent'));

try {
  const engine = await openEngine({ dataDir: process.argv[2] ?? '' }, events);
  process.stdout.write(`${JSON.stringify({ pid: engine.pid, socketPath: engine.socketPath })}\n`);
  await process.stdin.resume().toArray();
  await engine.close();
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`,
  );
}
