/** What the queue on NATS wants to be told. Plain values. */

export interface NatsQueueOptions {
  /** At least one `nats://host:port` or `tls://host:port`. */
  readonly urls: readonly string[];
  readonly user: string | undefined;
  /** Of that user; a token where there is no user. */
  readonly password: string | undefined;
  /** Files; read again with every new connection. */
  readonly credentialsFile: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly prefix: string;
  readonly shards: number;
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  /** Longest that one answer may take. */
  readonly timeoutMs: number;
  readonly leaseMs: number;
  /** Of all shards together; undefined = only what NATS grants is the limit. */
  readonly maxBacklogBytes: number | undefined;
  readonly idempotencyTtlMs: number;
}
