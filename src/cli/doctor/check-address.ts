/** Whether an address can be reached at all, and whether its certificate is to be trusted. */
import { reasonOf } from '../http.ts';
import { type Finding, found, skipped } from './finding.ts';
import { probeName, probePort, probeTls, type TlsFacts } from './probe.ts';

export interface Address {
  /** Of the findings: `ingest` or `stream`. */
  readonly name: string;
  readonly url: URL;
  readonly ca: string | undefined;
  /** The flag that names another address. */
  readonly flag: string;
}

const dayMs = 24 * 60 * 60 * 1000;
/** The local authority renews 30 days before, at each start. */
const warnDays = 14;

/** @returns findings of which none failed if the address can be used. */
export async function checkAddress(address: Address): Promise<Finding[]> {
  const { name, url } = address;
  const check = `${name} address`;
  try {
    const addresses = await probeName(url);
    const tookMs = await probePort(url);
    const reached = found(check, `${url.origin} (${addresses.join(', ')}) in ${toMs(tookMs)}`);
    return [reached, ...(await checkTls(address))];
  } catch (error) {
    return [
      {
        check,
        status: 'fail',
        says: `cannot reach ${url.origin}: ${toReason(error)}`,
        advice: `start the service, open its port in firewalls, or correct ${address.flag}`,
      },
    ];
  }
}

async function checkTls({ name, url, ca }: Address): Promise<Finding[]> {
  const check = `${name} certificate`;
  if (url.protocol === 'http:') {
    const advice = 'use https:// unless a proxy on this machine speaks TLS';
    return [{ check, status: 'warn', says: 'the address is not encrypted', advice }];
  }
  try {
    const facts = await probeTls(url, ca);
    return [judgeCertificate(check, facts), judgeHttp2(`${name} HTTP/2`, facts)];
  } catch (error) {
    const says = `cannot agree on TLS: ${toReason(error)}`;
    const advice = 'look whether this port is the one that Weir or its TLS proxy listens on';
    return [{ check, status: 'fail', says, advice }];
  }
}

function judgeCertificate(check: string, facts: TlsFacts): Finding {
  const days = Math.floor((facts.validUntilMs - Date.now()) / dayMs);
  if (facts.fault === undefined) {
    const says = `trusted, ${days} days left`;
    if (days >= warnDays) return found(check, says);
    const advice = 'renew it (--tls-cert-file), or restart Weir to renew its own';
    return { check, status: 'warn', says, advice };
  }
  const { code } = facts.fault as NodeJS.ErrnoException;
  const says = toReason(facts.fault);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const advice = `use one of its names in the address (${facts.names}), or have it issued anew`;
    return { check, status: 'fail', says, advice };
  }
  if (code === 'CERT_HAS_EXPIRED' || days < 0) {
    const advice =
      'renew it (--tls-cert-file), or restart Weir to renew its own; is the clock right?';
    return { check, status: 'fail', says, advice };
  }
  const advice = 'give the authority that signed it: --ca-file DATA/tls/ca.pem or WEIR_CA_FILE';
  return { check, status: 'fail', says, advice };
}

function judgeHttp2(check: string, { hasHttp2 }: TlsFacts): Finding {
  if (hasHttp2) return found(check, 'offered, as gRPC needs it');
  return {
    check,
    status: 'warn',
    says: 'not offered: senders over gRPC cannot connect',
    advice: 'let the proxy in front pass TLS on, or offer h2 (ALPN)',
  };
}

/** For what hangs on an address that cannot be used. */
export function unreachable(check: string): Finding {
  return skipped(check, 'not looked at: the address cannot be used');
}

function toReason(error: unknown): string {
  return error instanceof Error ? reasonOf(error) : String(error);
}

function toMs(ms: number): string {
  return `${Math.max(1, Math.round(ms))} ms`;
}
