/** What the errors of sockets and TLS mean to a person, and which of them no waiting mends. */

interface Meaning {
  readonly words: string;
  /** True where only a person can mend it. */
  readonly isLasting?: true;
}

const untrusted: Meaning = {
  words: 'its certificate is not trusted; give --ca-file',
  isLasting: true,
};

const meanings: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: { words: 'nothing listens there; is the service running?' },
  ECONNRESET: { words: 'the connection was cut' },
  EPIPE: { words: 'the connection was cut' },
  ETIMEDOUT: { words: 'it does not answer' },
  EHOSTUNREACH: { words: 'there is no way to that host' },
  ENETUNREACH: { words: 'there is no network to that host' },
  ENOTFOUND: { words: 'there is no such host' },
  EAI_AGAIN: { words: 'its name cannot be looked up now' },
  EPROTO: { words: 'it does not speak TLS there', isLasting: true },
  ERR_SSL_WRONG_VERSION_NUMBER: { words: 'it does not speak TLS there', isLasting: true },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: { words: 'it does not speak TLS there', isLasting: true },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: 'its certificate is for other names than the one in the address',
    isLasting: true,
  },
  CERT_HAS_EXPIRED: { words: 'its certificate has expired', isLasting: true },
  CERT_NOT_YET_VALID: { words: 'its certificate is not valid yet', isLasting: true },
  CERT_SIGNATURE_FAILURE: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
};

/** @returns a sentence without its subject, such as `nothing listens there; …`. */
export function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return 'it does not answer in time';
  return meanings[codeOf(error)]?.words ?? error.message;
}

export function isLasting(error: Error): boolean {
  return meanings[codeOf(error)]?.isLasting ?? false;
}

/** Where a name has several addresses, all of which failed, the first of the errors. */
function codeOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first ? String(first.code) : '';
}
