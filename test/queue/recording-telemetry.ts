/** Queue telemetry that records events for tests. */
import type { QueueDamage, QueueEvents } from '../../src/telemetry/queue-events.ts';

export interface Reported {
  readonly damage: QueueDamage[];
  readonly foreign: string[];
  readonly checkpoints: string[];
  readonly marks: string[];
}

export function recordTelemetry(): {
  reported: Reported;
  /** Unreadable files of retried batches. */
  passedOver: string[];
  telemetry: QueueEvents;
} {
  const passedOver: string[] = [];
  const reported: Reported = { damage: [], foreign: [], checkpoints: [], marks: [] };
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
    damageFound: (damage) => void reported.damage.push(damage),
    foreignFile: ({ name }) => void reported.foreign.push(name),
    checkpointUnusable: ({ state }) => void reported.checkpoints.push(state),
    syncedMarkUnusable: ({ state }) => void reported.marks.push(state),
    watch: nothing,
  };
  return { reported, passedOver, telemetry };
}
