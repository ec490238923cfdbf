/**
 * What consumers a stream has, those without a leader too, which the client's own list leaves out.
 */
import type { NatsLink } from './connection.ts';

/** @throws Error where there is no answer */
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
