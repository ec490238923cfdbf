/** Demo data: logs and metrics of a small shop, the same in every run except for times. */
import assert from 'node:assert/strict';
import { pushText } from '../harness/metrics.ts';
import { createRandom, type Random } from '../harness/random.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

const hourMs = 3_600_000;
const services = ['checkout', 'cart', 'search', 'billing', 'edge-proxy', 'auth'] as const;
const hosts = ['node-1', 'node-2', 'node-3'] as const;
const regions = ['eu-west-1', 'us-east-1'] as const;
/** Percentage of all logs. */
const shares = { DEBUG: 10, INFO: 74, WARN: 13, ERROR: 3 } as const;
type Severity = keyof typeof shares;

type Message = (random: Random) => string;
const messages: Readonly<Record<Severity, readonly [Message, ...Message[]]>> = {
  DEBUG: [(r) => `cache miss for key user:${r.integer(1000, 9999)}`],
  INFO: [
    (r) => `GET /api/orders/${r.integer(10_000, 99_999)} 200 in ${r.integer(3, 90)} ms`,
    (r) => `order ${r.integer(10_000, 99_999)} accepted, ${r.integer(1, 9)} items`,
    (r) => `{"event":"login","user":{"id":${r.integer(100, 999)},"plan":"pro"},"ok":true}`,
    (r) => `session of user ${r.integer(1000, 9999)} renewed`,
  ],
  WARN: [
    (r) => `slow query: SELECT * FROM orders WHERE id = ? took ${r.integer(900, 4000)} ms`,
    (r) => `retrying payment ${r.integer(1000, 9999)}, attempt ${r.integer(2, 4)} of 5`,
  ],
  ERROR: [
    (r) => `connection reset by peer (10.0.${r.integer(1, 9)}.${r.integer(1, 200)})`,
    (r) =>
      `payment ${r.integer(1000, 9999)} failed: card declined\n` +
      '    at charge (billing/charge.ts:88:11)\n    at settle (billing/settle.ts:31:5)',
  ],
};

/** Six thousand logs and four series of the last hour; resolves once they are readable. */
export async function fillWithDemoData(service: Service): Promise<void> {
  const random = createRandom(20_261_121);
  const now = Date.now();
  for (let batch = 0; batch < 6; batch += 1) {
    const events = Array.from({ length: 1000 }, () => toEvent(random, now));
    const answer = await service.postLogs(events);
    assert.equal(answer.status, 202, answer.text);
  }
  const answer = await pushText(service, exposition(now));
  assert.equal(answer.status, 202, answer.text);
  await until(async () => (await service.facet('severity', {})).total >= 6000, {
    what: 'the logs to be readable',
  });
}

function toEvent(random: Random, now: number): object {
  // An incident twenty minutes ago.
  const isIncident = random.integer(0, 9) === 0;
  const age = isIncident ? random.integer(1_100_000, 1_400_000) : random.integer(0, hourMs);
  const severity = isIncident ? random.pick(['WARN', 'ERROR'] as const) : pickSeverity(random);
  return {
    message: random.pick(messages[severity])(random),
    severity,
    service_name: isIncident ? 'billing' : random.pick(services),
    service_namespace: 'shop',
    host: random.pick(hosts),
    timestamp: new Date(now - age).toISOString(),
    labels: {
      region: random.pick(regions),
      version: `1.${random.integer(0, 3)}`,
      'k8s.pod.name': `shop-${random.integer(1, 6)}`,
      'k8s.namespace.name': 'shop',
    },
  };
}

function pickSeverity(random: Random): Severity {
  let left = random.integer(0, 99);
  for (const [severity, share] of Object.entries(shares) as [Severity, number][]) {
    if (left < share) return severity;
    left -= share;
  }
  return 'INFO';
}

function exposition(now: number): string {
  const lines = [
    '# HELP http_requests_total Requests answered',
    '# TYPE http_requests_total counter',
  ];
  for (const [place, service] of services.slice(0, 4).entries()) {
    let total = 0;
    for (let step = 0; step <= 240; step += 1) {
      const at = now - (240 - step) * 15_000;
      total += Math.round(300 + place * 120 + 150 * Math.sin(step / 25 + place));
      lines.push(`http_requests_total{service="${service}",method="GET"} ${total} ${at}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
