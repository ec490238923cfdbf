/** Upper bounds on this machine: single steps on the same bodies. */
import type { Body } from './corpus.ts';
import { stampBody } from './corpus.ts';

export interface Ceiling {
  readonly eventsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly cpuMicrosPerEvent: number;
}

/** `JSON.parse`, one thread, for about `seconds`. */
export function measureJsonParse(bodies: readonly Body[], seconds: number): Promise<Ceiling> {
  return measureOverBodies(bodies, seconds, (body) => JSON.parse(body.bytes.toString('utf8')));
}

/** A decoder, one thread, for about `seconds`. */
export function measureDecoder(
  bodies: readonly Body[],
  seconds: number,
  decode: (body: Buffer) => unknown,
): Promise<Ceiling> {
  return measureOverBodies(bodies, seconds, (body) => decode(body.bytes));
}

async function measureOverBodies(
  bodies: readonly Body[],
  seconds: number,
  work: (body: Body) => unknown,
): Promise<Ceiling> {
  for (const body of bodies) stampBody(body, Date.now());
  for (const body of bodies.slice(0, 10)) await work(body);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let events = 0;
  let bytes = 0;
  for (let turn = 0; performance.now() - startedAt < seconds * 1000; turn++) {
    const body = bodies[turn % bodies.length];
    if (body === undefined) break;
    await work(body);
    events += body.events;
    bytes += body.bytes.length;
  }
  const took = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    eventsPerSecond: events / took,
    megabytesPerSecond: bytes / took / 1e6,
    cpuMicrosPerEvent: (user + system) / events,
  };
}
