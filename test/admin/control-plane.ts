/** The control API without a server: its routes over a real directory, called by operation id. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { adminRoutes } from '../../src/admin/admin.ts';
import type { AdminCaller } from '../../src/admin/authority.ts';
import type { AdminRoute } from '../../src/admin/routes.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';
import type { Account, Receiver, Scope, Stream, View } from '../../src/model/account.ts';
import { AppError } from '../../src/model/errors.ts';
import type { AdminChange } from '../../src/telemetry/node-events.ts';

export interface DeletedData {
  readonly accountId: string;
  readonly streamId: string;
  /** Undefined = all. */
  readonly untilNanos: bigint | undefined;
}

export interface ControlPlane {
  readonly directory: Directory & GrantSource;
  readonly routes: readonly AdminRoute[];
  /** Recorded changes, oldest first. */
  readonly changes: readonly AdminChange[];
  readonly deletedData: readonly DeletedData[];
  /** Streams whose batches in quarantine were dropped. */
  readonly dropped: readonly string[];
  /** Calls of the queue, and the completion of its line. */
  readonly queueCalls: readonly ('cutoff chosen' | 'series forgotten')[];
  /** Deleted streams whose batches could not be dropped. */
  readonly notDropped: readonly string[];
  /** Has the store fail. */
  failStore(): void;
  /** Has the quarantine fail. */
  failQuarantine(): void;
  /** Answers as serialized. @throws AppError */
  call<Answer>(operationId: string, request: Call): Promise<Answer>;
  close(): Promise<void>;
}

export interface Call {
  readonly caller: AdminCaller;
  readonly accountId?: string | undefined;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
}

/** The time of every control plane in tests, Unix ms. */
export const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
/** The line of the queue between earlier and later data, Unix ns. */
export const lineNanos = BigInt(Date.UTC(2026, 0, 2, 3, 4, 5, 999)) * 1_000_000n;

export async function openControlPlane(): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-admin-'));
  const directory = await openSqliteDirectory({ file: join(folder, 'directory.db') }, () => nowMs);
  const changes: AdminChange[] = [];
  const deletedData: DeletedData[] = [];
  const dropped: string[] = [];
  const notDropped: string[] = [];
  const queueCalls: ('cutoff chosen' | 'series forgotten')[] = [];
  let invalidations = 0;
  let isStoreAway = false;
  let isQuarantineAway = false;
  const routes = adminRoutes(
    {
      directory,
      grants: { invalidate: () => (invalidations += 1) },
      ruleOptions: { checkLogs: () => undefined },
      previewRules: () => Promise.reject(new Error('no previews')),
      checkNotifierUrl: () => undefined,
      store: {
        deleteStreamData: async (accountId, streamId, untilNanos) => {
          if (isStoreAway) throw new AppError('unavailable', 'cannot reach the store; try again');
          deletedData.push({ accountId, streamId, untilNanos });
        },
      },
      queue: {
        async receiptCutoff() {
          // Asynchronous, since the line may be ahead of the clock.
          await setImmediate();
          queueCalls.push('cutoff chosen');
          return lineNanos;
        },
        forgetSeries: async () => void queueCalls.push('series forgotten'),
        dropQuarantined: async (streamId) => {
          if (isQuarantineAway) throw new AppError('unavailable', 'cannot use the quarantine');
          dropped.push(streamId);
        },
      },
      telemetry: {
        quarantineNotDropped: (streamId) => void notDropped.push(streamId),
        adminChanged(change) {
          changes.push(change);
          // No grant depends on a view, a rule or a notifier.
          const cached = changes.filter(({ operation }) => !/View$|Rule|Notifier/.test(operation));
          assert.equal(invalidations, cached.length, 'a change was not applied to the cache');
        },
      },
    },
    { ingestUrl: 'https://in.example' },
    () => nowMs,
  );
  return {
    directory,
    routes,
    changes,
    deletedData,
    dropped,
    notDropped,
    queueCalls,
    failStore: () => (isStoreAway = true),
    failQuarantine: () => (isQuarantineAway = true),
    async call<Answer>(
      operationId: string,
      { caller, accountId, params = {}, body, ifMatch }: Call,
    ) {
      const route = routes.find((candidate) => candidate.operationId === operationId);
      assert.ok(route, `there is no operation ${operationId}`);
      const answer = await route.handle({ caller, accountId, params, body, ifMatch });
      if (!route.response) {
        assert.equal(answer, undefined);
        return undefined as Answer;
      }
      // Answers have the documented fields only.
      assert.deepEqual(route.response.parse(answer), answer);
      return JSON.parse(JSON.stringify(answer)) as Answer;
    },
    async close() {
      await directory.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export interface Tenant {
  readonly account: Account;
  readonly stream: Stream;
  readonly receiver: Receiver;
  readonly view: View;
}

export async function createTenant(directory: Directory, name: string): Promise<Tenant> {
  const account = await directory.createAccount({ name, eventsPerSecond: null });
  const { accountId } = account;
  const stream = await directory.createStream({ accountId, name, retentionDays: 30 });
  const receiver = await directory.createReceiver({
    accountId,
    streamId: stream.streamId,
    name,
    kind: 'http_json',
    active: true,
    allowedCidrs: [],
    limits: { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null },
    transform: [],
  });
  const view = await directory.createView({ accountId, name, query: '' }, 10);
  return { account, stream, receiver, view };
}

export function callerWith(scopes: readonly Scope[], ...tenants: readonly Tenant[]): AdminCaller {
  return {
    tokenId: 'tok_caller',
    scopes: new Set(scopes),
    accountIds: tenants.map((tenant) => tenant.account.accountId),
  };
}

/** The code of the AppError of `work`, or `ok`. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
