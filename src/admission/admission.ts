/** Admission over the grants of the directory, the quota store, the caps and the clock. */
import type { TokenGrant, TokenType } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { digestSecret } from '../codec/token-secret.ts';
import * as auth from './authenticate.ts';
import { type BodyPace, discardBody, discardPatience, readBody, tooLarge } from './body.ts';
import { bodyFormat } from './body-format.ts';
import {
  addressKey,
  type AddressRange,
  clientAddress,
  isWithin,
  parseRanges,
} from './client-address.ts';
import { createFailedTokens, failedTokensDefaults } from './failed-tokens.ts';
import { inflate } from './inflate.ts';
import { createOverload } from './overload.ts';
import type { Admission, GrantLookup, QuotaStore } from './port.ts';
import { chargeEvents, checkDebt } from './quota.ts';

export interface AdmissionOptions {
  /** Cap on the estimated heap of requests in flight; beyond it requests fail with 503. */
  readonly maxInFlightBytes: number;
  /** CIDR ranges of peers whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly bodyPace: BodyPace;
}

/** Estimate for a body of unknown length. */
const assumedBodyBytes = 16 * 1024;

/** @throws AppError `malformed` if a trusted proxy is not an address range */
export function createAdmission(
  options: AdmissionOptions,
  grants: GrantLookup,
  quota: QuotaStore,
): Admission {
  const overload = createOverload(options.maxInFlightBytes);
  const trustedProxies = parseRanges(options.trustedProxies);
  const failedTokens = createFailedTokens(failedTokensDefaults, () => performance.now());
  // The cache of the directory returns the same receivers, so that their ranges are parsed once.
  const parsedRanges = new WeakMap<readonly string[], AddressRange[]>();

  function rangesOf(cidrs: readonly string[]): AddressRange[] {
    let ranges = parsedRanges.get(cidrs);
    if (ranges === undefined) {
      ranges = parseRanges(cidrs);
      parsedRanges.set(cidrs, ranges);
    }
    return ranges;
  }

  async function tokenOfDigest(digest: string, type: TokenType): Promise<TokenGrant> {
    const token = await grants.token(digest);
    const inForce = auth.checkTokenInForce(token, type, Date.now());
    grants.touch(inForce.tokenId);
    return inForce;
  }

  return {
    bearer: auth.bearerToken,
    token: (secret, type) => tokenOfDigest(digestSecret(secret), type),
    tokenOfDigest,

    async receiver(receiverId) {
      const grant = await grants.receiver(receiverId);
      if (grant === undefined) throw new AppError('not_found', 'cannot find this receiver');
      return grant;
    },

    permitSender(token, receiver, { kind, peerAddress, headers }) {
      if (token !== undefined) auth.checkBinding(token, receiver);
      auth.checkReceiver(receiver, kind);
      if (receiver.allowedCidrs.length > 0) {
        const address = clientAddress(peerAddress, headers.forwardedFor, trustedProxies);
        if (address === undefined || !isWithin(address, rangesOf(receiver.allowedCidrs))) {
          throw new AppError('forbidden', 'cannot accept data from this address for this receiver');
        }
      }
      if (token !== undefined) auth.checkScope(token, 'ingest:write');
    },

    bodyFormat,

    checkDeclaredLength(headers, maxBodyBytes) {
      if ((headers.contentLength ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    },

    checkDebt: (grant) => checkDebt(quota, grant),

    reserveMemory(holder, headers, heapBytesPerBodyByte) {
      const bodyBytes = headers.contentLength ?? assumedBodyBytes;
      return overload.reserve(holder, bodyBytes, heapBytesPerBodyByte);
    },

    readBody: (body, maxBodyBytes, memory) =>
      readBody(body, maxBodyBytes, memory, options.bodyPace),

    inflate,

    chargeEvents: (grant, events) => chargeEvents(quota, grant, events),

    activeAccount: auth.activeAccount,

    permitReader(token, accountId, scope) {
      // An operator has the scope admin for every account.
      if (scope === 'admin' && token.scopes.has('operator')) return;
      auth.checkAccount(token, accountId);
      auth.checkScope(token, scope);
    },

    discardBody: (body, maxBytes) => discardBody(body, maxBytes, discardPatience),
    paceFailure(peerAddress, forwardedFor) {
      const address = clientAddress(peerAddress, forwardedFor, trustedProxies);
      return failedTokens.pace(addressKey(address ?? peerAddress));
    },
    memoryInFlight: () => overload.inFlightBytes(),
  };
}
