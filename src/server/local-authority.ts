/**
 * A certificate authority for this data directory, so that the first request already uses TLS. It
 * is created on the first run, signs the server certificate and renews it before it expires.
 */
import { createPrivateKey, KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Extension } from '@peculiar/x509';
import { replaceTextFile } from '../files/atomic-file.ts';
import { hasErrorCode } from '../std/error-text.ts';

export interface TlsMaterial {
  /** PEM, leaf first. */
  readonly cert: string;
  readonly key: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
/** Some clients reject server certificates that are valid for more than 398 days. */
const serverDays = 397;
const renewDaysBefore = 30;
const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** @param file is empty, truncated or not PEM; its pair is about to be replaced */
export type OnDamaged = (file: string, error: unknown) => void;

/**
 * Reads `ca.pem`, `ca-key.pem`, `server.pem` and `server-key.pem`. Replaces a pair that is missing
 * or damaged, expires within 30 days or does not name this machine. Only the owner can read keys.
 */
export async function ensureLocalCertificate(
  directory: string,
  now: Date,
  onDamaged?: OnDamaged,
): Promise<TlsMaterial> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = [...new Set(['localhost', hostname()])];
  const server = await readPair(directory, 'server', onDamaged);
  const hasServed = server !== undefined;
  const authority = await readPair(directory, 'ca', onDamaged, hasServed);
  if (authority !== undefined && server !== undefined && isUsable(authority, now)) {
    const leaf = new X509Certificate(server.cert);
    const isIssued = leaf.verify(new X509Certificate(authority.cert).publicKey);
    const named = leaf.subjectAltName?.split(', ') ?? [];
    const isNamed = names.every((name) => named.includes(`DNS:${name}`));
    if (isIssued && isNamed && isUsable(server, now)) return server;
  }
  const isReusable = authority !== undefined && isUsable(authority, now, serverDays);
  const issuer = isReusable ? authority : await makeAuthority(now);
  if (!isReusable) writePair(directory, 'ca', issuer);
  const made = await makeServer(issuer, names, now);
  writePair(directory, 'server', made);
  return made;
}

function isUsable({ cert, key }: TlsMaterial, now: Date, days = renewDaysBefore): boolean {
  const parsed = new X509Certificate(cert);
  const left = parsed.validToDate.getTime() - now.getTime();
  const isPair = parsed.checkPrivateKey(createPrivateKey(key));
  return isPair && parsed.validFromDate <= now && left > days * dayMs;
}

/** A dynamic import: it takes a tenth of a second, and most starts issue no certificate. */
async function loadX509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

async function makeAuthority(now: Date): Promise<TlsMaterial> {
  const x509 = await loadX509();
  return issue({
    subject: `CN=Weir local authority on ${distinguished(hostname())}`,
    now,
    days: authorityDays,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
    ],
  });
}

async function makeServer(
  issuer: TlsMaterial,
  names: readonly string[],
  now: Date,
): Promise<TlsMaterial> {
  const x509 = await loadX509();
  const authority = new x509.X509Certificate(issuer.cert);
  return issue({
    subject: 'CN=localhost',
    signer: { name: authority.subject, key: fromPem(issuer.key) },
    now,
    days: serverDays,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.map((value) => ({ type: 'dns' as const, value })),
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  });
}

interface CertificateRequest {
  readonly subject: string;
  /** Absent = signed with its own key. */
  readonly signer?: { readonly name: string; readonly key: webcrypto.CryptoKey };
  readonly now: Date;
  readonly days: number;
  readonly extensions: readonly Extension[];
}

async function issue(request: CertificateRequest): Promise<TlsMaterial> {
  const { subject, signer, now, days, extensions } = request;
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: signer?.name ?? subject,
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(now.getTime() + days * dayMs),
    signingAlgorithm: keyAlgorithm,
    publicKey: keys.publicKey,
    signingKey: signer?.key ?? keys.privateKey,
    extensions: [...extensions, await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)],
  });
  return { cert: cert.toString('pem'), key: toPem(keys.privateKey) };
}

/** Positive and of 128 bits (RFC 5280 §4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** Host names need no escaping in a distinguished name; other characters are replaced. */
function distinguished(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]/g, '-');
}

function toPem(key: webcrypto.CryptoKey): string {
  return String(KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }));
}

function fromPem(pem: string): webcrypto.CryptoKey {
  return createPrivateKey(pem).toCryptoKey(keyAlgorithm, false, ['sign']);
}

/**
 * @param isExpected whether a missing file is damage
 * @returns undefined if a file of the pair is missing or damaged
 */
async function readPair(
  directory: string,
  name: string,
  onDamaged?: OnDamaged,
  isExpected = false,
): Promise<TlsMaterial | undefined> {
  const certFile = join(directory, `${name}.pem`);
  const keyFile = join(directory, `${name}-key.pem`);
  const [cert, key] = await Promise.all([readIfThere(certFile), readIfThere(keyFile)]);
  if (cert === undefined || key === undefined) {
    const missing = cert === undefined ? certFile : keyFile;
    if (isExpected) onDamaged?.(missing, new Error('the file is missing'));
    return undefined;
  }
  const isCert = isParsed(certFile, () => checkCertificate(cert), onDamaged);
  const isKey = isParsed(keyFile, () => createPrivateKey(key), onDamaged);
  return isCert && isKey ? { cert, key } : undefined;
}

/** @throws Error if it is not a certificate, or is an authority whose own signature is invalid */
function checkCertificate(pem: string): void {
  const parsed = new X509Certificate(pem);
  if (parsed.ca && !parsed.verify(parsed.publicKey)) throw new Error('its signature is wrong');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isParsed(file: string, parse: () => unknown, onDamaged?: OnDamaged): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    onDamaged?.(file, error);
    return false;
  }
}

/** A crash between the two writes leaves a mismatched pair, which the next start replaces. */
function writePair(directory: string, name: string, material: TlsMaterial): void {
  replaceTextFile(join(directory, `${name}-key.pem`), material.key);
  replaceTextFile(join(directory, `${name}.pem`), material.cert, 0o644);
}
