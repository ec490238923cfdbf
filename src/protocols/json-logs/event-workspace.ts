/** Memory of a decoder of events, reused from body to body. */
import { RowWriter } from '../../codec/row-writer.ts';
import { EventSlots } from './event-fields.ts';

export class EventWorkspace {
  readonly slots = new EventSlots();
  readonly rows = new RowWriter();

  /** Releases the body that was decoded. */
  clear(): void {
    this.slots.release();
    this.rows.clear();
  }
}
