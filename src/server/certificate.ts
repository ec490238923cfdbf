/**
 * The listeners' certificate: read from the operator's files or issued by the local authority,
 * checked at intervals, and replaced in running listeners when it changed.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server as TlsServer } from 'node:tls';
import { AppError } from '../model/errors.ts';
import type { HttpEvents } from '../telemetry/request-events.ts';
import { ensureLocalCertificate, type TlsMaterial } from './local-authority.ts';
import { messageOf } from '../std/error-text.ts';

export interface CertificateOptions {
  /** PEM files of the operator, both or none. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Holds the certificates of the local authority, used if no files are given. */
  readonly directory: string;
  /** Between two checks of the files, or of the remaining validity. */
  readonly checkEveryMs: number;
}

export type Certificate = Awaited<ReturnType<typeof openCertificate>>;

/** @throws AppError `malformed` when there is no usable certificate */
export async function openCertificate(options: CertificateOptions, events: HttpEvents) {
  const { certFile, keyFile, directory } = options;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new AppError(
      'malformed',
      'cannot use half a certificate: set both tls.certFile and tls.keyFile',
    );
  }
  const isOwn = certFile !== undefined && keyFile !== undefined;
  const load = async (): Promise<TlsMaterial> => {
    if (isOwn) return readPair(certFile, keyFile);
    return ensureLocalCertificate(directory, new Date(), events.certificateDamaged);
  };
  const servers: Pick<TlsServer, 'setSecureContext'>[] = [];
  let material = await load();
  announce(material, events);

  async function refresh(): Promise<void> {
    try {
      const next = await load();
      if (next.cert === material.cert && next.key === material.key) return;
      for (const server of servers) server.setSecureContext(next);
      material = next;
      announce(material, events);
    } catch (error) {
      events.certificateRefused(error);
    }
  }
  const timer = setInterval(() => void refresh(), options.checkEveryMs);
  timer.unref();

  return {
    material: () => material,
    /**
     * PEM file of the authority that senders must trust; undefined with the operator's own
     * certificate.
     */
    caFile: isOwn ? undefined : `${directory}/ca.pem`,
    /** Keeps this listener's certificate current until `close`. */
    follow: (server: Pick<TlsServer, 'setSecureContext'>) => void servers.push(server),
    /** Checks the source now. */
    refresh,
    close: () => clearInterval(timer),
  };
}

async function readPair(certFile: string, keyFile: string): Promise<TlsMaterial> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    // During a renewal the two files may not match.
    if (!isPair) throw new Error('the key is not the key of the certificate');
    return { cert, key };
  } catch (cause) {
    const reason = messageOf(cause);
    throw new AppError(
      'malformed',
      `cannot use the certificate ${certFile} with the key ${keyFile}: ${reason}; ` +
        'check tls.certFile and tls.keyFile',
      { cause },
    );
  }
}

function announce({ cert }: TlsMaterial, events: HttpEvents): void {
  const { subject, validTo } = new X509Certificate(cert);
  events.certificateLoaded(subject, new Date(validTo).toISOString());
}
