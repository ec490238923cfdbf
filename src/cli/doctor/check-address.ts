/** Checks that an address is reachable and its certificate trusted. */
import { reasonOf } from '../http.ts';
import { failure, type Finding, found, warning } from './finding.ts';
import { probeName, probePort, probeTls, type TlsFacts } from './probe.ts';

export interface Address {
  /** `ingest` or `stream`. */
  readonly name: string;
  readonly url: URL;
  readonly ca: string | undefined;
  /** The flag that sets the address. */
  readonly flag: string;
}

const dayMs = 24 * 60 * 60 * 1000;
/** The local authority renews 30 days before, at each start. */
const warnDays = 14;

/** @returns findings of which none failed if the address can be used. */
export async function checkAddress(address: Address): Promise<Finding[]> {
  const { name, url, flag } = address;
  const check = `${name} address`;
  try {
    const addresses = await probeName(url);
    const tookMs = Math.max(1, Math.round(await probePort(url)));
    const reached = found(check, `${url.origin} (${addresses.join(', ')}) in ${tookMs} ms`);
    return [reached, ...(await checkTls(address))];
  } catch (error) {
    const advice = `start the service, open its port in firewalls, or correct ${flag}`;
    return [failure(check, `cannot reach ${url.origin}: ${reasonOf(error)}`, advice)];
  }
}

async function checkTls({ name, url, ca }: Address): Promise<Finding[]> {
  const check = `${name} certificate`;
  if (url.protocol === 'http:') {
    const advice = 'use https:// unless a proxy on this machine speaks TLS';
    return [warning(check, 'the address is not encrypted', advice)];
  }
  try {
    const facts = await probeTls(url, ca);
    return [judgeCertificate(check, facts), judgeHttp2(`${name} HTTP/2`, facts)];
  } catch (error) {
    const advice = 'check that Weir or its TLS proxy listens on this port';
    return [failure(check, `TLS handshake failed: ${reasonOf(error)}`, advice)];
  }
}

function judgeCertificate(check: string, { fault, names, validUntilMs }: TlsFacts): Finding {
  const days = Math.floor((validUntilMs - Date.now()) / dayMs);
  const renew = 'renew it (--tls-cert-file), or restart Weir to renew its own';
  if (fault === undefined) {
    const says = `trusted, ${days} days left`;
    return days >= warnDays ? found(check, says) : warning(check, says, renew);
  }
  const { code } = fault as NodeJS.ErrnoException;
  const says = reasonOf(fault);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return failure(check, says, `use one of its names in the address (${names}), or reissue it`);
  }
  if (code === 'CERT_HAS_EXPIRED' || days < 0) {
    return failure(check, says, `${renew}, and check the clock`);
  }
  const advice = 'give the authority that signed it: --ca-file DATA/tls/ca.pem or WEIR_CA_FILE';
  return failure(check, says, advice);
}

function judgeHttp2(check: string, { hasHttp2 }: TlsFacts): Finding {
  if (hasHttp2) return found(check, 'offered, as gRPC needs it');
  const advice = 'let the proxy in front pass TLS on, or offer h2 (ALPN)';
  return warning(check, 'not offered: senders over gRPC cannot connect', advice);
}
