/** The day of `npm run demo-data` in a service of a test. */
import { readFileSync } from 'node:fs';
import { sendDay, type Sent } from '../../scripts/demo-data/send.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** Resolves once all logs are readable. */
export async function fillWithDemoData(service: Service, requests = 8_000): Promise<Sent> {
  const { caFile, receivers } = service.quickstart;
  const target = { receivers, ca: readFileSync(caFile, 'utf8') };
  const options = { seed: 1, hours: 24, requests, untilMs: Date.now() };
  const sent = await sendDay(target, options);
  await until(async () => (await service.facet('severity', {})).total >= sent.logs, {
    what: 'the logs to be readable',
  });
  return sent;
}
