/**
 * That a token opens all accounts is a fact of its row. Before, an operator token without accounts
 * opened all of them, and one became such a token when its last account was deleted. Which of the
 * two a row without accounts was cannot be told any more, so it keeps what it opens.
 */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('tokens')
    .addColumn('all_accounts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db
    .updateTable('tokens')
    .set({ all_accounts: 1 })
    .where('scopes', 'like', '%"operator"%')
    .where('token_id', 'not in', (bound) => bound.selectFrom('token_accounts').select('token_id'))
    .execute();
}
