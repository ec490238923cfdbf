/** Numbers of the holders of a shard, one after the other. Pure. */
import type { StreamInfo } from '@nats-io/jetstream';

const secondBits = 32n;

/**
 * Higher than those before, and of no other holder: revisions of a bucket grow. One that was made
 * anew, or restored from a copy, has lower ones at a later time, by the clock of NATS.
 * @param earlier all epochs of the shard that are known of
 * @param bucket of the leases
 * @param revision under which the lease was taken
 */
export function toEpoch(
  earlier: readonly bigint[],
  { created, state }: { created: string; state: Pick<StreamInfo['state'], 'last_ts'> },
  revision: number,
): bigint {
  const highest = earlier.reduce((a, b) => (a > b ? a : b), 0n);
  const newestMs = Math.max(Date.parse(created), Date.parse(state.last_ts));
  const epoch = (BigInt(Math.floor(newestMs / 1000)) << secondBits) + BigInt(revision);
  if (epoch > highest) return epoch;
  const highestSeconds = highest >> secondBits;
  const sameSecond = (highestSeconds << secondBits) + BigInt(revision);
  return sameSecond > highest ? sameSecond : sameSecond + (1n << secondBits);
}
