/** Runs statements on the engine of a service, bypassing the service. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';

/** @returns the response as TSV. @throws Error when the engine is unavailable or refuses */
export function runOnEngine(dataDir: string, sql: string): Promise<string> {
  const owner = readFileSync(join(dataDir, 'engine', 'owner.json'), 'utf8');
  const { socketPath } = JSON.parse(owner) as { socketPath: string };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request({
    socketPath,
    method: 'POST',
    path: '/?wait_end_of_query=1',
    headers: { 'x-weir-pool': 'housekeeping' },
    agent: false,
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    readText(response).then((answer) => {
      if (response.statusCode === 200) resolve(answer);
      else reject(new Error(`cannot run ${sql}: ${answer}`));
    }, reject);
  });
  sent.end(sql);
  return promise;
}
