/** Outcomes of notifiers to the directory, each notifier's at most once in a few seconds. */
import type { NotifierStore } from '../directory/port.ts';
import type { Deliveries } from '../model/rules.ts';

export interface DeliveryNotesParts {
  readonly noteDeliveries: NotifierStore['noteDeliveries'];
  readonly failed: (notifierId: string, error: unknown) => void;
}

export type NoteDeliveries = (notifierId: string, deliveries: Deliveries) => Promise<void>;

/** Groups may be evaluated every second, and all of them may fail to notify. */
const everyMs = 5_000;

/** The first outcomes are written at once, those within seconds of a write together after it. */
export function createDeliveryNotes({
  noteDeliveries,
  failed,
}: DeliveryNotesParts): NoteDeliveries {
  /** Outcomes since the last write of each notifier that was written to within seconds. */
  const later = new Map<string, Deliveries>();

  async function write(notifierId: string, deliveries: Deliveries): Promise<void> {
    later.set(notifierId, {});
    try {
      await noteDeliveries(notifierId, deliveries);
    } catch (error) {
      failed(notifierId, error);
    }
    setTimeout(writeLater, everyMs, notifierId).unref();
  }

  function writeLater(notifierId: string): void {
    const deliveries = later.get(notifierId) ?? {};
    later.delete(notifierId);
    if (Object.keys(deliveries).length > 0) void write(notifierId, deliveries);
  }

  return async (notifierId, deliveries) => {
    const waiting = later.get(notifierId);
    if (waiting === undefined) await write(notifierId, deliveries);
    else later.set(notifierId, { ...waiting, ...deliveries });
  };
}
