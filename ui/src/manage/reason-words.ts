/** Display texts for the reasons of refusals. Pure. */

const ofRequests: Readonly<Record<string, string>> = {
  malformed: 'Malformed request',
  unauthenticated: 'Token missing, unknown, expired or revoked',
  forbidden: 'Not permitted',
  not_found: 'No such receiver or route',
  method_not_allowed: 'Wrong method',
  conflict: 'Conflict with another request',
  too_large: 'Too large',
  unsupported_media: 'Content type or encoding not supported',
  quota_exceeded: 'Over the quota',
  timeout: 'The body arrived too slowly',
  unavailable: 'Temporarily unavailable',
  internal: 'Internal error',
};

/** Unmaps an IPv4 address from a dual-stack socket. */
export function toAddress(peerAddress: string): string {
  return peerAddress.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** @param reason error code of a request, or the decoder's reason for a record or warning */
export function toReasonWords(kind: 'request' | 'record' | 'warning', reason: string): string {
  if (kind !== 'request') return reason.charAt(0).toUpperCase() + reason.slice(1);
  return ofRequests[reason] ?? reason;
}
