/** The parts and functions that handlers of the control API use. */
import type { Directory } from '../directory/port.ts';
import type { PreviewGroup } from '../model/rules.ts';
import type { Queue } from '../queue/port.ts';
import type { RuleFileOptions } from '../rules/rule-file.ts';
import type { Store } from '../store/port.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';

export interface AdminParts {
  readonly directory: Directory;
  /** The cached view of the directory, invalidated after each change. */
  readonly grants: { invalidate(): void };
  readonly queue: Pick<Queue, 'receiptCutoff' | 'forgetSeries' | 'dropQuarantined'>;
  readonly store: Pick<Store, 'deleteStreamData'>;
  readonly telemetry: Pick<DirectoryEvents, 'adminChanged' | 'quarantineNotDropped'>;
  readonly ruleOptions: RuleFileOptions;
  readonly previewRules: PreviewGroup;
  /** @throws Error for an address that notifiers do not reach */
  readonly checkNotifierUrl: (url: string) => void;
}

export interface AdminOptions {
  /**
   * Public URL of the ingest port, without a trailing slash, for the URLs of receivers. Read for
   * each answer: with port 0 it is known only after the port is open.
   */
  readonly ingestUrl: string;
  /** Certificate of the local authority; undefined when senders trust the certificate already. */
  readonly caFile?: string | undefined;
}

export interface AdminContext extends AdminParts {
  readonly options: AdminOptions;
  /** Unix ms. */
  readonly now: () => number;
}

export interface HandlerContext extends AdminContext {
  /** Must be called after a change that affects grants: invalidates the cache and logs it. */
  readonly record: (targetId: string) => void;
  /** Must be called after any other change: logs it. @param targetId id of the changed resource */
  readonly audit: (targetId: string) => void;
}
