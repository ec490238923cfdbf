/** What the supervisor and the engine process say to each other besides queries. */
import type { EngineSettings } from './options.ts';

/**
 * The one argument of the process, as JSON. Its working directory is the supervisor's gift and its
 * own alone.
 */
export interface ChildStart {
  readonly settings: EngineSettings;
  /** Absolute: where chDB keeps its data. */
  readonly storePath: string;
  /** Absolute: where the owner of the data directory is named. */
  readonly ownerPath: string;
  /** Absolute; earlier working directories are beside the current one and are removed. */
  readonly runPrefix: string;
  readonly socketPath: string;
  /** The process ends itself when this one is no longer its parent. */
  readonly parentPid: number;
}

export type ChildMessage =
  | ReadyMessage
  /** Why it ends, before or after it was ready. */
  | { readonly kind: 'failed'; readonly message: string };

export interface ReadyMessage {
  readonly kind: 'ready';
  readonly clickhouseVersion: string;
  /** Paths of removed parts that a failed write had cut short. */
  readonly cutParts: readonly string[];
}

export interface Owner {
  /** The process that serves Weir. */
  readonly weirPid: number;
  readonly enginePid: number;
  /** Where it answers; absent where its owner is not known. */
  readonly socketPath?: string;
}
