/** Times of BSD syslog: without a year, and often without a zone. */

export interface LocalTime {
  /** Undefined if not sent. */
  readonly year: number | undefined;
  /** 0 to 11. */
  readonly month: number;
  readonly day: number;
  /** Since midnight. */
  readonly ms: number;
}

const dayMs = 86_400_000;
const quarterMs = 900_000;
/** A clock may be ahead of this one. */
const maxAheadMs = 7 * dayMs;

/** Offsets of one zone, looked up once per quarter of an hour. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();

  /** @param name IANA. @throws RangeError for an unknown name */
  constructor(name: string) {
    const parts = { hourCycle: 'h23', dateStyle: 'short', timeStyle: 'medium' } as const;
    this.#format =
      name === 'UTC' ? undefined : new Intl.DateTimeFormat('sv', { timeZone: name, ...parts });
  }

  /** @param localMs the clock of the zone as if it were UTC. @returns Unix ms */
  toUtc(localMs: number): number {
    return localMs - this.#offsetAt(localMs - this.#offsetAt(localMs));
  }

  /** ms east of UTC. */
  #offsetAt(utcMs: number): number {
    if (this.#format === undefined) return 0;
    const quarter = Math.floor(utcMs / quarterMs);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const start = quarter * quarterMs;
    const offset = Date.parse(`${this.#format.format(start).replace(' ', 'T')}Z`) - start;
    if (this.#offsets.size >= 1000) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }
}

/**
 * Without a year it is the last such time that is not more than a week ahead.
 * @param offsetMs east of UTC; undefined = of the zone
 * @returns Unix ms; NaN for a day that does not exist
 */
export function toUnixMs(
  time: LocalTime,
  { nowMs, zone, offsetMs }: { nowMs: number; zone: TimeZone; offsetMs?: number | undefined },
): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  // Far enough back for 29 February.
  const years = time.year === undefined ? [1, 0, -1, -2, -3, -4] : [time.year - thisYear];
  for (const step of years) {
    const dayStart = Date.UTC(thisYear + step, time.month, time.day);
    if (new Date(dayStart).getUTCDate() !== time.day) continue;
    const local = dayStart + time.ms;
    const utc = offsetMs === undefined ? zone.toUtc(local) : local - offsetMs;
    if (time.year !== undefined || utc <= nowMs + maxAheadMs) return utc;
  }
  return NaN;
}
