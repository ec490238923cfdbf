/**
 * Makes an event time of the 64 bits an OTLP sender wrote: Unix nanoseconds, or what is frequently
 * sent in their place. The number never becomes one of JavaScript's, which would round it.
 */
import type { EventTime } from '../../codec/event-time.ts';
import { maxEventTimeMillis } from '../../model/log-id.ts';

/** 2^32 ns are so many ms and ns. */
const millisPerHigh = 4294;
const nanosPerHigh = 967_296;

/** Before it, 1973-03-03, no count of seconds, and no count of ms or µs, is taken for one. */
const earliestSeconds = 1e8;
const latestSeconds = maxEventTimeMillis / 1000;

export type TimeVerdict = 'exact' | 'absent' | 'corrected' | 'outside';

/** The last time that was read; reused from one to the next. */
export class LogTime implements EventTime {
  millis = 0;
  nanos = 0;

  /**
   * Counts that as nanoseconds would lie within two months of 1970, but in s, ms or µs between 1973
   * and 2149, are read in that unit.
   * @param high upper 32 bits, unsigned; `low` the lower ones.
   * @returns `corrected` where it was read in another unit than ns; after `absent` (zero) and
   *   `outside` (1970 to 2149) the time is not to be used.
   */
  read(high: number, low: number): TimeVerdict {
    if (high === 0 && low === 0) return 'absent';
    const rest = high * nanosPerHigh + low;
    this.millis = high * millisPerHigh + Math.floor(rest / 1e6);
    this.nanos = rest % 1e6;
    if (this.millis >= maxEventTimeMillis) return 'outside';
    if (this.millis >= latestSeconds) return 'exact';
    return this.#readUnit(this.millis * 1e6 + this.nanos);
  }

  /** @param value below 2^53. */
  #readUnit(value: number): TimeVerdict {
    for (let perSecond = 1; perSecond <= 1e6; perSecond *= 1000) {
      if (value < earliestSeconds * perSecond || value >= latestSeconds * perSecond) continue;
      this.millis = perSecond === 1 ? value * 1000 : Math.floor(value / (perSecond / 1000));
      this.nanos = perSecond === 1e6 ? (value % 1000) * 1000 : 0;
      return 'corrected';
    }
    return 'exact';
  }
}
