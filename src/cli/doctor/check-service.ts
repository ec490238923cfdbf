/** What a port of Weir says of itself: alive, ready, its clock and its version. */
import { reasonOf } from '../http.ts';
import { type Finding, found } from './finding.ts';
import { type Answer, probeHttp } from './probe.ts';

export interface Service {
  /** Of the findings: `ingest` or `stream`. */
  readonly name: string;
  readonly url: URL;
  readonly ca: string | undefined;
}

export interface ServiceFindings {
  readonly findings: readonly Finding[];
  readonly isWeir: boolean;
}

/** What to do about a part that is not ready. */
const adviceByPart: Readonly<Record<string, string>> = {
  queue: 'look at the free disk space and at the log of the service: it refuses logs meanwhile',
  store: 'look at the log of the service for its engine (or store.url); logs wait in the queue',
};

export async function checkService(service: Service): Promise<ServiceFindings> {
  const { name, url, ca } = service;
  const check = `${name} service`;
  try {
    const health = await probeHttp(new URL('/healthz', url), { ca });
    const status = (health.body as { status?: unknown } | undefined)?.status;
    const isWeir = health.status === 200 && status === 'ok';
    if (!isWeir) return { findings: [notWeir(check, health)], isWeir };
    const ready = await probeHttp(new URL('/readyz', url), { ca });
    return { findings: [judgeReadiness(check, ready)], isWeir };
  } catch (error) {
    const says = `cannot ask it: ${toReason(error)}`;
    return { findings: [{ check, status: 'fail', says }], isWeir: false };
  }
}

function judgeReadiness(check: string, ready: Answer): Finding {
  const { missing } = (ready.body ?? {}) as { missing?: unknown };
  if (ready.status === 200) return found(check, 'alive and ready');
  const parts = Array.isArray(missing) ? missing.map(String) : [];
  return {
    check,
    status: 'fail',
    says: `alive, but not ready (${ready.status}): ${parts.join(', ') || 'it does not say why'}`,
    advice: parts.map((part) => adviceByPart[part] ?? `look for ${part} in its log`).join('; '),
  };
}

function notWeir(check: string, { status }: Answer): Finding {
  return {
    check,
    status: 'fail',
    says: `what answers there is not Weir (${status} for /healthz)`,
    advice: 'give the address of Weir itself; a proxy must pass all paths on',
  };
}

/** Beyond it, searches for the last minutes miss what was just sent. */
const mostSkewMs = 2000;

/** Both clocks count: the header has whole seconds, and the answer took its time. */
export async function checkClock({ url, ca }: Service): Promise<Finding> {
  const check = 'clock';
  try {
    const { headers, sentAtMs, tookMs } = await probeHttp(new URL('/healthz', url), { ca });
    const theirsMs = Date.parse(headers.date ?? '');
    if (Number.isNaN(theirsMs)) return { check, status: 'skip', says: 'the service tells no time' };
    const oursMs = sentAtMs + tookMs / 2;
    const skewMs = oursMs < theirsMs ? oursMs - theirsMs : Math.max(0, oursMs - theirsMs - 1000);
    if (Math.abs(skewMs) <= mostSkewMs) return found(check, 'the same as that of the service');
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    return {
      check,
      status: 'warn',
      says: `this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service`,
      advice: 'set both clocks by NTP: logs with times of their own are found at the wrong time',
    };
  } catch (error) {
    return { check, status: 'skip', says: `cannot ask the service: ${toReason(error)}` };
  }
}

/** @param own version of this command */
export async function checkVersion({ url, ca }: Service, own: string): Promise<Finding> {
  const check = 'version';
  try {
    const { body } = await probeHttp(new URL('/openapi.json', url), { ca });
    const { info } = (body ?? {}) as { info?: { version?: unknown } };
    const theirs = typeof info?.version === 'string' ? info.version : 'tells no version';
    if (theirs === own) return found(check, `${own}, here and there`);
    return {
      check,
      status: 'warn',
      says: `this command is ${own}, the service ${theirs}`,
      advice: 'use the command that comes with the service',
    };
  } catch (error) {
    return { check, status: 'skip', says: `cannot ask the service: ${toReason(error)}` };
  }
}

function toReason(error: unknown): string {
  return error instanceof Error ? reasonOf(error) : String(error);
}
