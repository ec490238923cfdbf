/** The comparison names what is planted in the demo data. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { incident } from '../../scripts/demo-data/day.ts';
import { fillWithDemoData } from '../explorer/demo-data.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';

let service: Service;
let nowMs: number;
before(async () => {
  service = await joinService();
  nowMs = Date.now();
  await fillWithDemoData(service);
});
after(() => service.stop());

const ago = (ageMs: number) => new Date(nowMs - ageMs).toISOString();

async function differences(parameters: Parameters): Promise<string[]> {
  const range = { sinceTime: ago(incident.fromAgeMs), untilTime: ago(incident.untilAgeMs) };
  const answer = await service.read('/compare', { ...range, ...parameters });
  assert.equal(answer.status, 200, answer.text);
  const found = answer.json<{ differences: { field: string; value: string; share: number }[] }>();
  return found.differences.map(({ field, value }) => `${field}=${value}`);
}

const { customer, version } = incident;

test('the time of the incident differs by customer, first of all', async () => {
  const found = await differences({});
  assert.equal(found[0], `label.customer.id=${customer}`);
  assert.ok(found.includes(`label.version=${version}`), found.join('\n'));
});

test('errors have one customer, one version and one pod, which logs before have not', async () => {
  const found = await differences({
    query: `service:${incident.service} severity:error`,
    baselineQuery: `service:${incident.service}`,
    baselineTo: ago(incident.fromAgeMs),
  });
  const first = found.slice(0, 5);
  assert.ok(first.includes(`label.version=${version}`), found.join('\n'));
  assert.ok(first.includes(`label.customer.id=${customer}`), found.join('\n'));
  assert.ok(
    found.slice(0, 10).some((one) => one.startsWith('k8sPod=checkout-')),
    found.join('\n'),
  );
});
