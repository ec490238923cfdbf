/** Which consumers a stream has, and whose they are. */
import type { NatsLink } from './connection.ts';

/** Names tell whose a consumer is: a late holder must not remove that of the one after. */
export function toConsumerName(epoch: bigint): string {
  return `e${epoch}`;
}

/** @returns 0 for consumers that are none of ours. */
export function epochOf(consumerName: string): bigint {
  return BigInt(/^e(\d+)$/.exec(consumerName)?.[1] ?? 0);
}

/**
 * Those without a leader too, which the client's own list leaves out.
 * @throws Error where there is no answer
 */
export async function listConsumers(link: NatsLink, stream: string): Promise<readonly string[]> {
  const subject = `$JS.API.CONSUMER.NAMES.${stream}`;
  const timeout = { timeout: link.options.timeoutMs };
  const answer = await link.connection.request(subject, JSON.stringify({ offset: 0 }), timeout);
  const { consumers, error } = answer.json<ConsumerNames>();
  if (error !== undefined) {
    throw new Error(`cannot list the consumers of ${stream}: ${error.description ?? ''}`);
  }
  return consumers ?? [];
}

/** `io.nats.jetstream.api.v1.consumer_names_response` */
interface ConsumerNames {
  readonly consumers?: readonly string[] | null;
  readonly error?: { readonly description?: string };
}
