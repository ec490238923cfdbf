/**
 * Evaluates the rule groups of all accounts on time. Of all nodes one holds the lease; the
 * directory refuses states of an earlier holder, so that no alert is decided twice.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, RuleStore } from '../directory/port.ts';
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

export interface EvaluatorParts {
  readonly rules: Pick<
    RuleStore,
    'listRuleGroups' | 'saveRuleState' | 'holdLease' | 'releaseLease'
  >;
  readonly query: QueryRule;
  readonly record: RecordSamples;
  readonly countLate: CountLate;
  /** Fills `sent` with what was acknowledged. Never throws. */
  readonly notify: NotifyOfGroup;
  readonly events: AlertEvents;
  /** Unix ms. */
  readonly now: () => number;
  /** Of the lease; unique among processes that use the directory at once. */
  readonly holder: string;
}

export interface RecordedSamples {
  readonly atMs: number;
  readonly samples: readonly RuleSample[];
  /** Labels of series that end at this time. */
  readonly ended: readonly RuleSample['labels'][];
}

/** Resolves once the samples are durable. @throws AppError */
export type RecordSamples = (owner: GroupOwner, samples: RecordedSamples) => Promise<void>;

const leaseName = 'alerts';
const leaseMs = 15_000;
const renewMs = 5_000;
const turnMs = 1_000;
const idleMs = 2_000;
/** State from further in the future was saved before the clock was set back. */
const clockSkewMs = 300_000;
const concurrentGroups = 2;

export function openEvaluator(parts: EvaluatorParts) {
  const { rules, events, holder } = parts;
  const stop = new AbortController();
  const runs = new GroupRuns(parts, stop.signal);
  let lease: Lease | undefined;
  let renewAt = 0;

  /** @returns ms until the next turn. */
  async function turn(): Promise<number> {
    const stored = await rules.listRuleGroups(undefined);
    if (stored.length === 0 && lease === undefined) return idleMs;
    if (performance.now() >= renewAt) {
      const begunAt = performance.now();
      lease = await rules.holdLease(leaseName, holder, leaseMs);
      renewAt = begunAt + renewMs;
      events.leaseHeld(lease !== undefined);
    }
    runs.keepOnly(lease === undefined ? [] : stored);
    if (lease === undefined) return renewMs;
    for (const one of stored) runs.startIfDue(one, lease);
    return turnMs;
  }

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      let waitMs = renewMs;
      try {
        waitMs = await turn();
      } catch (error) {
        lease = undefined;
        renewAt = 0;
        events.evaluatorFailed(error);
      }
      await sleep(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const looping = loop();
  return {
    /** Finishes evaluations in flight and releases the lease. */
    async close(): Promise<void> {
      stop.abort();
      await looping;
      await runs.settled();
      if (lease === undefined) return;
      await rules.releaseLease(lease).catch((error: unknown) => events.evaluatorFailed(error));
    },
  };
}

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
  readonly sent: Map<string, SentAlert>;
  notifying: boolean;
}

/** Evaluations of groups, one at a time of each group. */
class GroupRuns {
  readonly #parts: EvaluatorParts;
  readonly #stop: AbortSignal;
  readonly #tracks = new Map<string, Track>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #places = createSemaphore({
    what: 'rule groups',
    places: concurrentGroups,
    maxWaiting: Number.MAX_SAFE_INTEGER,
  });

  constructor(parts: EvaluatorParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  keepOnly(stored: readonly StoredRuleGroup[]): void {
    const keys = new Set(stored.map(keyOf));
    for (const key of this.#tracks.keys()) if (!keys.has(key)) this.#tracks.delete(key);
  }

  startIfDue(stored: StoredRuleGroup, lease: Lease): void {
    const key = keyOf(stored);
    const evaluatedAtMs = stored.state?.evaluatedAtMs ?? 0;
    const track = this.#tracks.get(key) ?? newTrack(stored);
    this.#tracks.set(key, track);
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

function newTrack({ state }: StoredRuleGroup): Track {
  const sent = new Map(Object.entries(state?.sent ?? {}));
  const evaluatedAtMs = state?.evaluatedAtMs ?? 0;
  return { evaluatedAtMs, running: false, series: undefined, sent, notifying: false };
}

function keyOf({ streamId, group }: StoredRuleGroup): string {
  return JSON.stringify([streamId, group.name]);
}

/** The last time at which the group is due; groups are spread over their interval. */
function slotOf(stored: StoredRuleGroup, nowMs: number): number {
  const { intervalMs } = stored.group;
  const offset = createHash('sha256').update(keyOf(stored)).digest().readUInt32LE(0) % intervalMs;
  return Math.floor((nowMs - offset) / intervalMs) * intervalMs + offset;
}
