/** Queue telemetry that records events for tests. */
import type { QueueDamage, QueueEvents } from '../../src/telemetry/queue-events.ts';

export interface Told {
  readonly damage: QueueDamage[];
  readonly foreign: string[];
  readonly checkpoints: string[];
  readonly marks: string[];
}

export function recordTelemetry(): {
  told: Told;
  /** Unreadable files of retried batches. */
  passedOver: string[];
  telemetry: QueueEvents;
} {
  const passedOver: string[] = [];
  const told: Told = { damage: [], foreign: [], checkpoints: [], marks: [] };
  const nothing = () => undefined;
  const telemetry: QueueEvents = {
    opened: nothing,
    retriesFound: nothing,
    retryUnreadable: ({ file }) => void passedOver.push(file),
    batchAppended: nothing,
    appendRefused: nothing,
    diskFull: nothing,
    diskFreed: nothing,
    failed: nothing,
    damageFound: (damage) => void told.damage.push(damage),
    foreignFile: ({ name }) => void told.foreign.push(name),
    checkpointUnusable: ({ state }) => void told.checkpoints.push(state),
    syncedMarkUnusable: ({ state }) => void told.marks.push(state),
    watch: nothing,
  };
  return { told, passedOver, telemetry };
}
