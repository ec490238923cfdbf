/**
 * A day of the demo shop, the same for each seed except for its times. Three hours before its end
 * one pod of the checkout gets a version in which the payments of one customer fail, until it is
 * rolled back.
 */
import { createRandom, type Random } from '../../test/harness/random.ts';
import {
  createPods,
  paymentTrace,
  type Pod,
  type Route,
  routes,
  services,
  type Visit,
} from './shop.ts';

/** An event of the JSON log path. */
export interface DemoLog {
  readonly timestamp: string;
  readonly message: string;
  readonly severity: string;
  readonly service_name: string;
  readonly service_namespace: string;
  readonly host: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** One service answered one request. */
export interface DemoCall {
  readonly atMs: number;
  readonly service: string;
  readonly pod: string;
  readonly durationMs: number;
  readonly isFailed: boolean;
}

export interface DayOptions {
  readonly seed: number;
  /** Unix ms; everything is older. */
  readonly untilMs: number;
  readonly hours: number;
  readonly requests: number;
}

export interface DemoDay {
  /** By time. */
  readonly logs: readonly DemoLog[];
  readonly calls: readonly DemoCall[];
}

/** What fails: requests with all three, between these ages. */
export const incident = {
  customer: 'cust-1042',
  service: 'checkout',
  version: '2.5.1',
  fromAgeMs: 190 * 60_000,
  untilAgeMs: 150 * 60_000,
} as const;

interface Day extends DayOptions {
  readonly random: Random;
  readonly pods: ReturnType<typeof createPods>;
  readonly logs: DemoLog[];
  readonly calls: DemoCall[];
}

const customers = 60;
/** Of the incident's customer during the incident: otherwise there would be a handful of errors. */
const incidentRequests = 240;
const hourMs = 3_600_000;

export function createDay(options: DayOptions): DemoDay {
  const random = createRandom(options.seed);
  const day: Day = { ...options, random, pods: createPods(random), logs: [], calls: [] };
  for (let count = 0; count < options.requests; count += 1) {
    addRequest(day, { atMs: busyTime(day), route: pickRoute(random), customer: anyone(random) });
  }
  const { customer, fromAgeMs, untilAgeMs } = incident;
  if (options.hours * hourMs > fromAgeMs) {
    for (let count = 0; count < incidentRequests; count += 1) {
      const atMs = options.untilMs - random.integer(untilAgeMs, fromAgeMs);
      addRequest(day, { atMs, route: routes.at(-1)!, customer });
    }
    addDeployments(day);
  }
  day.logs.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
  return { logs: day.logs, calls: day.calls };
}

interface Asked {
  readonly atMs: number;
  readonly route: Route;
  readonly customer: string;
}

function addRequest(day: Day, { atMs, route, customer }: Asked): void {
  const { random } = day;
  const order = random.integer(100_000, 999_999);
  const path = route.route.replace('{id}', String(order));
  const visit: Visit = { ...route, path, customer, order };
  const traceId = hex(random, 4);
  let nowMs = atMs;
  let isFailed = false;
  const open: Call[] = [];
  const end = (call: Call) => endCall(day, call, { endMs: nowMs, isFailed });
  for (const [depth, service] of route.services.entries()) {
    const pod = pickPod(day, service, nowMs);
    const call: Call = { service, pod, visit, traceId, spanId: hex(random, 2), startMs: nowMs };
    addLog(day, call, { atMs: nowMs, severity: 'INFO', message: wordsOf(day, call, 'begin') });
    nowMs += durationOf(day, service);
    const failing = service === 'payment' ? open.find((one) => isIncident(day, one)) : undefined;
    if (failing !== undefined) {
      nowMs += 5000;
      isFailed = true;
      addLog(day, failing, { atMs: nowMs, severity: 'ERROR', message: paymentTrace(order) });
      break;
    }
    // The first two wait for the services that they call.
    if (depth < 2) open.unshift(call);
    else end(call);
  }
  for (const call of open) {
    nowMs += random.integer(1, 4);
    end(call);
  }
}

interface Call {
  readonly service: string;
  readonly pod: Pod;
  readonly visit: Visit;
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
}

function endCall(
  day: Day,
  call: Call,
  { endMs, isFailed }: { readonly endMs: number; readonly isFailed: boolean },
): void {
  const { random } = day;
  const { service, pod, visit, startMs } = call;
  const durationMs = endMs - startMs;
  // Unrelated errors that happen on any day.
  const isUnlucky = service === 'inventory' && random.integer(0, 249) === 0;
  day.calls.push({
    atMs: endMs,
    service,
    pod: pod.name,
    durationMs,
    isFailed: isFailed || isUnlucky,
  });
  const status = isFailed ? 502 : 200;
  const labels = { 'http.status_code': String(status), duration_ms: String(durationMs) };
  if (isFailed) {
    const message = `${visit.method} ${visit.path} failed with ${status} after ${durationMs} ms`;
    addLog(day, call, { atMs: endMs, severity: 'ERROR', message, labels });
    return;
  }
  if (isUnlucky) {
    const message = `connection reset by peer (10.0.${random.integer(1, 9)}.17), reconnected`;
    addLog(day, call, { atMs: endMs - 1, severity: 'ERROR', message });
  } else if (random.integer(0, 29) === 0) {
    const message = wordsOf(day, call, 'warning');
    addLog(day, call, { atMs: endMs - 1, severity: 'WARN', message });
  }
  addLog(day, call, { atMs: endMs, severity: 'INFO', message: wordsOf(day, call, 'end'), labels });
}

function isIncident({ untilMs }: Day, { service, pod, visit, startMs }: Call): boolean {
  const age = untilMs - startMs;
  return (
    service === incident.service &&
    visit.route === '/checkout' &&
    visit.customer === incident.customer &&
    pod.version === incident.version &&
    age <= incident.fromAgeMs &&
    age >= incident.untilAgeMs
  );
}

function addDeployments({ logs, pods, untilMs }: Day): void {
  const { service, version, fromAgeMs, untilAgeMs } = incident;
  const { name, host, version: usual } = pods.get(service)![2];
  const add = (ageMs: number, message: string, to: string) =>
    logs.push({
      timestamp: new Date(untilMs - ageMs).toISOString(),
      message,
      severity: 'INFO',
      service_name: 'deployer',
      service_namespace: 'platform',
      host,
      labels: { 'k8s.pod.name': name, version: to },
    });
  add(fromAgeMs + 20_000, `rolled out ${service} ${version} to ${name} (1 of 3 pods)`, version);
  add(untilAgeMs - 20_000, `rolled back ${service} on ${name} to ${usual}`, usual);
}

interface LogParts {
  readonly atMs: number;
  readonly severity: string;
  readonly message: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function addLog(day: Day, call: Call, { atMs, severity, message, labels }: LogParts): void {
  const { service, pod, visit, traceId, spanId } = call;
  if (atMs >= day.untilMs) return;
  day.logs.push({
    timestamp: new Date(atMs).toISOString(),
    message,
    severity,
    service_name: service,
    service_namespace: 'shop',
    host: pod.host,
    trace_id: traceId,
    span_id: spanId,
    labels: {
      'customer.id': visit.customer,
      'http.method': visit.method,
      'http.route': visit.route,
      'k8s.namespace.name': 'shop',
      'k8s.pod.name': pod.name,
      version: pod.version,
      ...labels,
    },
  });
}

function wordsOf(day: Day, { service, visit }: Call, kind: 'begin' | 'end' | 'warning'): string {
  return services[service]![kind](visit, day.random);
}

function durationOf({ random }: Day, service: string): number {
  const { usualMs } = services[service]!;
  return Math.max(1, Math.round(usualMs * (0.5 + random.next() + 3 * random.next() ** 8)));
}

function pickPod({ random, pods, untilMs }: Day, service: string, atMs: number): Pod {
  const pod = random.pick(pods.get(service)!);
  const age = untilMs - atMs;
  const isCanary =
    service === incident.service &&
    pod === pods.get(service)![2] &&
    age <= incident.fromAgeMs &&
    age >= incident.untilAgeMs;
  return isCanary ? { ...pod, version: incident.version } : pod;
}

/** More by day than by night, with the peak an hour before the end. */
function busyTime({ random, untilMs, hours }: Day): number {
  for (;;) {
    const age = random.next() * hours * hourMs;
    const share = 0.6 + 0.4 * Math.cos(((age / hourMs - 1) / 12) * Math.PI);
    if (random.next() < share) return Math.floor(untilMs - age);
  }
}

function pickRoute(random: Random): Route {
  const total = routes.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  return routes.find(({ weight }) => (left -= weight) < 0) ?? routes[0];
}

function anyone(random: Random): string {
  return `cust-${1000 + random.integer(0, customers - 1)}`;
}

/** @param words of 32 bits */
function hex(random: Random, words: number): string {
  return Array.from({ length: words }, () =>
    Math.floor(random.next() * 0xffff_ffff)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
}
