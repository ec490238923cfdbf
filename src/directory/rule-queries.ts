/** Rule groups, the state of their alerts, and leases, in the directory's database. */
import { sql } from 'kysely';
import { AppError } from '../model/errors.ts';
import type { GroupState, RuleGroup } from '../model/rules.ts';
import { type Database, deleteRows, findRow, listRows, type Tx } from './database.ts';
import type { RuleStore } from './port.ts';

export function createRuleQueries(database: Database): RuleStore {
  return { ...createGroupQueries(database), ...createLeaseQueries(database) };
}

function createGroupQueries(database: Database): Omit<RuleStore, 'holdLease' | 'releaseLease'> {
  return {
    async listRuleGroups(accountId) {
      const where = accountId === undefined ? {} : { accountId };
      const rows = await database.read((db) =>
        listRows(db, 'ruleGroups', { where, orderBy: ['streamId', 'name'] }),
      );
      return rows.map(({ definition, state, name: _, ...row }) => ({
        ...row,
        group: JSON.parse(definition) as RuleGroup,
        state: state === null ? undefined : (JSON.parse(state) as GroupState),
      }));
    },

    putRuleGroups: (streamId, groups, { maxGroups, expected }) =>
      database.write(async (tx) => {
        if (expected !== undefined) await checkUnchanged(tx, { streamId }, expected);
        const accountId = await accountOf(tx, streamId);
        const updatedAt = database.timestamp();
        for (const group of groups) {
          const definition = JSON.stringify(group);
          await tx
            .insertInto('ruleGroups')
            .values({ streamId, accountId, name: group.name, definition, state: null, updatedAt })
            .onConflict((conflict) =>
              conflict.columns(['streamId', 'name']).doUpdateSet({ definition, updatedAt }),
            )
            .execute();
        }
        await checkCount(tx, streamId, maxGroups);
      }),

    deleteRuleGroup: ({ streamId, name }, expected) =>
      database.write(async (tx) => {
        if (expected !== undefined) await checkUnchanged(tx, { streamId, name }, [expected]);
        return deleteRows(tx, 'ruleGroups', { streamId, name });
      }),

    saveRuleState: ({ streamId, name }, state, lease) =>
      database.writeConcurrently(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('ruleGroups')
          .set({ state: JSON.stringify(state) })
          .where('streamId', '=', streamId)
          .where('name', '=', name)
          .where((row) =>
            row.exists(
              row
                .selectFrom('leases')
                .select('name')
                .where('leases.name', '=', lease.name)
                .where('leases.epoch', '=', lease.epoch),
            ),
          )
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
  };
}

function createLeaseQueries(database: Database): Pick<RuleStore, 'holdLease' | 'releaseLease'> {
  const { clockMs } = database;
  return {
    holdLease: (name, holder, ttlMs) =>
      database.writeConcurrently(async (tx) => {
        const expiresAtMs = sql<number>`${clockMs} + ${ttlMs}`;
        const isOther = sql<number>`case when leases.holder = ${holder} then 0 else 1 end`;
        const row = await tx
          .insertInto('leases')
          .values({ name, holder, epoch: 1, expiresAtMs })
          .onConflict((conflict) =>
            conflict
              .column('name')
              .doUpdateSet({
                holder,
                expiresAtMs,
                epoch: sql<number>`leases.epoch + ${isOther}`,
              })
              .where((lease) =>
                lease.or([
                  lease('leases.holder', '=', holder),
                  lease('leases.expiresAtMs', '<=', clockMs),
                ]),
              ),
          )
          .returning(['name', 'epoch'])
          .executeTakeFirst();
        return row && { name: row.name, epoch: Number(row.epoch) };
      }),

    releaseLease: ({ name, epoch }) =>
      database.writeConcurrently(async (tx) => {
        await tx
          .updateTable('leases')
          .set({ expiresAtMs: 0 })
          .where('name', '=', name)
          .where('epoch', '=', epoch)
          .execute();
      }),
  };
}

async function accountOf(tx: Tx, streamId: string): Promise<string> {
  const stream = await findRow(tx, 'streams', { streamId });
  if (stream) return stream.accountId;
  throw new AppError('not_found', `cannot find stream ${streamId} in this account`);
}

async function checkUnchanged(
  tx: Tx,
  where: { readonly streamId: string; readonly name?: string },
  expected: readonly RuleGroup[],
): Promise<void> {
  const rows = await listRows(tx, 'ruleGroups', { where, orderBy: ['name'] });
  const stored = rows.map(({ definition }) => JSON.parse(definition) as RuleGroup);
  if (JSON.stringify(stored) === JSON.stringify(expected)) return;
  throw new AppError('precondition_failed', 'cannot change the rules: they changed meanwhile');
}

async function checkCount(tx: Tx, streamId: string, maxGroups: number): Promise<void> {
  const { count } = await tx
    .selectFrom('ruleGroups')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('streamId', '=', streamId)
    .executeTakeFirstOrThrow();
  if (count <= maxGroups) return;
  throw new AppError(
    'conflict',
    `cannot save the rules: the stream would have ${count} groups, at most ${maxGroups} are ` +
      'allowed; delete some first',
  );
}
