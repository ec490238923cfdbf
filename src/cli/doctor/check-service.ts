/** Checks a port of Weir: health, readiness, clock and version. */
import { reasonOf } from '../http.ts';
import type { Address } from './check-address.ts';
import { failure, type Finding, found, skipped, warning } from './finding.ts';
import { type ProbeResponse, probeHttp } from './probe.ts';

type Service = Omit<Address, 'flag'>;

/** By the part that is not ready. */
const adviceByPart: Readonly<Record<string, string>> = {
  queue: 'check the free disk space and the log of the service, which refuses logs',
  store: 'check the log of the service for its engine (or store.url); logs wait in the queue',
};

export async function checkService({
  name,
  url,
  ca,
}: Service): Promise<{ readonly finding: Finding; readonly isWeir: boolean }> {
  const check = `${name} service`;
  try {
    const health = await probeHttp(new URL('/healthz', url), { ca });
    const { status } = (health.body ?? {}) as { status?: unknown };
    if (health.status !== 200 || status !== 'ok') {
      const says = `the server there is not Weir (${health.status} for /healthz)`;
      const advice = 'give the address of Weir itself; a proxy must pass all paths on';
      return { finding: failure(check, says, advice), isWeir: false };
    }
    const ready = await probeHttp(new URL('/readyz', url), { ca });
    return { finding: judgeReadiness(check, ready), isWeir: true };
  } catch (error) {
    return { finding: failure(check, `no response: ${reasonOf(error)}`), isWeir: false };
  }
}

function judgeReadiness(check: string, ready: ProbeResponse): Finding {
  if (ready.status === 200) return found(check, 'alive and ready');
  const { missing } = (ready.body ?? {}) as { missing?: unknown };
  const parts = Array.isArray(missing) ? missing.map(String) : [];
  const reason = parts.join(', ') || 'no reason given';
  const advice = parts.map((part) => adviceByPart[part] ?? `see its log for ${part}`);
  return failure(check, `alive, but not ready (${ready.status}): ${reason}`, advice.join('; '));
}

/** Beyond it, searches for the last minutes miss recent logs. */
const maxSkewMs = 2000;

export async function checkClock({ url, ca }: Service): Promise<Finding> {
  const check = 'clock';
  try {
    const { headers, sentAtMs, tookMs } = await probeHttp(new URL('/healthz', url), { ca });
    const remoteMs = Date.parse(headers.date ?? '');
    if (Number.isNaN(remoteMs)) return skipped(check, 'the response has no Date header');
    const localMs = sentAtMs + tookMs / 2;
    // The header is cut to whole seconds.
    const skewMs = localMs < remoteMs ? localMs - remoteMs : Math.max(0, localMs - remoteMs - 1000);
    if (Math.abs(skewMs) <= maxSkewMs) return found(check, 'the same as that of the service');
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    return warning(
      check,
      `this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service`,
      'synchronize both clocks by NTP: logs that carry a time are found at the wrong time',
    );
  } catch (error) {
    return skipped(check, `no response from the service: ${reasonOf(error)}`);
  }
}

/** @param own version of this command */
export async function checkVersion({ url, ca }: Service, own: string): Promise<Finding> {
  const check = 'version';
  try {
    const { body } = await probeHttp(new URL('/openapi.json', url), { ca });
    const { info } = (body ?? {}) as { info?: { version?: unknown } };
    const remote = typeof info?.version === 'string' ? info.version : 'of an unknown version';
    if (remote === own) return found(check, `${own}, command and service`);
    const advice = 'use the command that comes with the service';
    return warning(check, `this command is ${own}, the service ${remote}`, advice);
  } catch (error) {
    return skipped(check, `no response from the service: ${reasonOf(error)}`);
  }
}
