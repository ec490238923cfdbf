/** Evaluations of rule groups: which are due, what they record, and whom they notify. */
import { createHash } from 'node:crypto';
import type { Directory, Lease, RuleStore } from '../directory/port.ts';
import {
  type GroupState,
  ruleKeys,
  type RuleSample,
  type SentAlert,
  type StoredRuleGroup,
} from '../model/rules.ts';
import { labelsKey } from '../rules/alerts.ts';
import { messageOf } from '../std/error-text.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { AlertEvents } from '../telemetry/alert-events.ts';
import {
  evaluateGroup,
  failureAlerts,
  type GroupEvaluation,
  type GroupOwner,
  labelsOf,
  lastSeries,
  type QueryRule,
  type RuleSeries,
} from './evaluate-group.ts';
import type { CountLate } from './late-rows.ts';
import type { NotifyOfGroup } from './notify.ts';

export interface GroupRunParts {
  readonly rules: Pick<RuleStore, 'saveRuleState'> & Pick<Directory, 'getStream'>;
  readonly query: QueryRule;
  readonly record: RecordSamples;
  readonly countLate: CountLate;
  /** Fills `sent` with what was acknowledged. Never throws. */
  readonly notify: NotifyOfGroup;
  readonly events: AlertEvents;
  /** Unix ms. */
  readonly now: () => number;
}

export interface RecordedSamples {
  readonly atMs: number;
  readonly samples: readonly RuleSample[];
  /** Labels of series that end at this time. */
  readonly ended: readonly RuleSample['labels'][];
}

/** Resolves once the samples are durable. @throws AppError */
export type RecordSamples = (owner: GroupOwner, samples: RecordedSamples) => Promise<void>;

/** State from further in the future was saved before the clock was set back. */
const clockSkewMs = 300_000;
const concurrentGroups = 2;

/** What the process knows of a group besides the directory. */
interface Track {
  /** Of the last evaluation whose state was saved. */
  evaluatedAtMs: number;
  running: boolean;
  /**
   * Series of the last evaluation that did not fail, by the key of the rule; undefined before the
   * first evaluation by this process.
   */
  series: RuleSeries | undefined;
  /** Time of their samples, Unix ms. */
  recordedAtMs: number;
  /** As listed last. */
  stored: StoredRuleGroup;
  readonly sent: Map<string, SentAlert>;
  notifying: boolean;
}

/** Evaluations of groups, one at a time of each group. */
export class GroupRuns {
  readonly #parts: GroupRunParts;
  readonly #stop: AbortSignal;
  readonly #tracks = new Map<string, Track>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #places = createSemaphore({
    what: 'rule groups',
    places: concurrentGroups,
    maxWaiting: Number.MAX_SAFE_INTEGER,
  });

  constructor(parts: GroupRunParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  /** Another process evaluates. */
  forgetAll(): void {
    this.#tracks.clear();
  }

  /** Ends the series of groups that are no longer stored, as Prometheus does. */
  endDeleted(stored: readonly StoredRuleGroup[]): void {
    const keys = new Set(stored.map(keyOf));
    for (const [key, track] of this.#tracks) {
      // An evaluation in flight may yet record samples.
      if (keys.has(key) || track.running) continue;
      this.#tracks.delete(key);
      const run = this.#end(track).finally(() => this.#inFlight.delete(run));
      this.#inFlight.add(run);
    }
  }

  startIfDue(stored: StoredRuleGroup, lease: Lease): void {
    const key = keyOf(stored);
    const evaluatedAtMs = stored.state?.evaluatedAtMs ?? 0;
    const track = this.#tracks.get(key) ?? newTrack(stored);
    this.#tracks.set(key, track);
    track.stored = stored;
    const atMs = slotOf(stored, this.#parts.now());
    // A list that was read before the last evaluation ended has an outdated state. A group that was
    // deleted and saved again has none.
    const isOutdated = stored.state !== undefined && evaluatedAtMs < track.evaluatedAtMs;
    const lastMs = Math.max(evaluatedAtMs, track.evaluatedAtMs);
    const isDue = atMs > lastMs || lastMs - this.#parts.now() > clockSkewMs;
    if (track.running || isOutdated || !isDue) return;
    if (evaluatedAtMs > 0) {
      const slots = Math.floor((atMs - evaluatedAtMs) / stored.group.intervalMs);
      this.#parts.events.slotsMissed(slots - 1);
    }
    track.running = true;
    const run = this.#evaluate(stored, { atMs, lease, track }).finally(() => {
      track.running = false;
      this.#inFlight.delete(run);
    });
    this.#inFlight.add(run);
  }

  async settled(): Promise<void> {
    // An evaluation that ends may begin a notification.
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  async #evaluate(
    stored: StoredRuleGroup,
    { atMs, lease, track }: { readonly atMs: number; readonly lease: Lease; readonly track: Track },
  ): Promise<void> {
    const { rules, events, query, now } = this.#parts;
    const { accountId, streamId, group } = stored;
    try {
      const release = await this.#places.acquire(accountId, this.#stop);
      try {
        const readMs = now();
        track.series ??= await lastSeries(stored, query);
        const evaluated = await evaluateGroup(stored, atMs, query);
        const late = await this.#lateOf(stored, atMs);
        const recorded = await this.#record(stored, evaluated, track);
        const sent = Object.fromEntries(track.sent);
        const state = { ...recorded, readMs, ...(late !== undefined && { late }), sent };
        const isSaved = await rules.saveRuleState({ streamId, name: group.name }, state, lease);
        if (!isSaved) return;
        track.evaluatedAtMs = atMs;
        events.groupEvaluated(streamId, group, state);
        this.#notify({ ...stored, state }, track);
      } finally {
        release();
      }
    } catch (error) {
      if (!this.#stop.aborted) events.evaluatorFailed(error);
    }
  }

  /** @returns of this evaluation, or of the last one that had any. */
  async #lateOf(stored: StoredRuleGroup, atMs: number): Promise<GroupState['late']> {
    const { countLate, events } = this.#parts;
    try {
      const found = await countLate(stored);
      if (found === undefined || found.rows === 0) return stored.state?.late;
      events.lateRows(found.rows);
      return { ...found, atMs };
    } catch (error) {
      events.countLateFailed(stored.streamId, stored.group.name, error);
      return stored.state?.late;
    }
  }

  /** Continues while the group is evaluated again; what fails is tried after the next one. */
  #notify(stored: StoredRuleGroup & { readonly state: GroupState }, track: Track): void {
    if (track.notifying || this.#stop.aborted) return;
    track.notifying = true;
    const run = this.#parts.notify(stored, track.sent, this.#stop).finally(() => {
      track.notifying = false;
      this.#inFlight.delete(run);
    });
    this.#inFlight.add(run);
  }

  async #end(track: Track): Promise<void> {
    const { rules, query, record, events } = this.#parts;
    const { accountId, streamId, group } = track.stored;
    try {
      // Nothing may be stored of a deleted stream.
      if ((await rules.getStream(streamId)) === undefined) return;
      const series = track.series ?? (await lastSeries(track.stored, query));
      const ended = [...series.values()].flat();
      if (ended.length === 0) return;
      // Before the next slot, so that a new group of this name can continue them.
      const atMs = track.recordedAtMs + 1;
      await record({ accountId, streamId }, { atMs, samples: [], ended });
    } catch (error) {
      events.recordFailed(streamId, group.name, error);
    }
  }

  /** @returns the state, in which a failed write is a failure of the recording rules. */
  async #record(
    { accountId, streamId, group, state: previous }: StoredRuleGroup,
    { state, samples: byRule }: GroupEvaluation,
    track: Track,
  ): Promise<GroupState> {
    const samples = [...byRule.values()].flat();
    // Series of a rule that failed do not end.
    const before: RuleSeries = track.series ?? new Map();
    const failed = [...before].filter(([rule]) => state.rules[rule]?.health === 'err');
    const series = new Map(failed);
    for (const [rule, all] of byRule) {
      series.set(rule, labelsOf(all));
    }
    const present = new Set([...series.values()].flat().map(labelsKey));
    const ended = [...before.values()].flat().filter((labels) => !present.has(labelsKey(labels)));
    if (samples.length === 0 && ended.length === 0) return state;
    const atMs = state.evaluatedAtMs - group.queryOffsetMs;
    try {
      await this.#parts.record({ accountId, streamId }, { atMs, samples, ended });
      track.series = series;
      track.recordedAtMs = atMs;
      return state;
    } catch (error) {
      this.#parts.events.recordFailed(streamId, group.name, error);
      const failure = { health: 'err', lastError: messageOf(error) } as const;
      const keys = ruleKeys(group.rules).filter((_, i) => group.rules[i]!.kind === 'recording');
      const changed = keys.map((key) => [key, { ...state.rules[key]!, ...failure }] as const);
      const rules = { ...state.rules, ...Object.fromEntries(changed) };
      const evaluated = { rules, state: previous, atMs: state.evaluatedAtMs };
      return { ...state, rules, failures: failureAlerts(group, evaluated) };
    }
  }
}

function newTrack(stored: StoredRuleGroup): Track {
  const { group, state } = stored;
  const sent = new Map(Object.entries(state?.sent ?? {}));
  const evaluatedAtMs = state?.evaluatedAtMs ?? 0;
  const recordedAtMs = evaluatedAtMs - group.queryOffsetMs;
  const unknown = { series: undefined, recordedAtMs };
  return { evaluatedAtMs, running: false, ...unknown, stored, sent, notifying: false };
}

function keyOf({ streamId, group }: OwnGroup): string {
  return JSON.stringify([streamId, group.name]);
}

type OwnGroup = Pick<StoredRuleGroup, 'streamId' | 'group'>;

/** The last time at which the group is due; groups are spread over their interval. */
export function slotOf(stored: OwnGroup, nowMs: number): number {
  const { intervalMs } = stored.group;
  const offset = createHash('sha256').update(keyOf(stored)).digest().readUInt32LE(0) % intervalMs;
  return Math.floor((nowMs - offset) / intervalMs) * intervalMs + offset;
}
