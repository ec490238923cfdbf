/**
 * One chDB session of a pool: runs one query at a time under the settings asked for, and leaves
 * none of them behind. It knows neither HTTP nor who may use it.
 */
import { type ChdbQueryStream, Session } from 'chdb';
import { changesBetween, type SettingMap, setStatement, unsetValue } from './settings.ts';

export interface Member {
  /**
   * Makes the session's settings its defaults plus these, and `database` its current one. The
   * caller holds the member.
   * @throws what chDB says of an unknown or bad setting; the session is then back at its defaults
   */
  configure(settings: SettingMap, database: string): Promise<void>;
  /** Runs off the main thread; the answer is complete in memory. */
  query(sql: string, format: string): Promise<MemberAnswer>;
  /**
   * Plans on the main thread, then yields the answer in chunks. One stream at a time; `cancel()`
   * ends it.
   */
  stream(sql: string, format: string): ChdbQueryStream;
  /** Only when no query runs: closing a session in use takes the whole engine down. */
  close(): void;
}

export interface MemberAnswer {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** @param connectionArgs take effect with the first session of the process */
export async function openMember(
  storePath: string,
  defaults: SettingMap,
  connectionArgs: readonly string[],
): Promise<Member> {
  const session = new Session(storePath, { connectionArgs });
  let applied = new Map<string, string>();
  let currentDatabase = 'default';

  async function set(changes: SettingMap): Promise<void> {
    const statement = setStatement(changes);
    if (statement !== undefined) await session.queryAsync(statement);
  }

  async function apply(settings: SettingMap): Promise<void> {
    const changes = changesBetween(applied, settings, defaults);
    try {
      await set(changes);
      applied = new Map(settings);
    } catch (error) {
      await reset([...applied.keys(), ...settings.keys()]);
      throw error;
    }
  }

  /** One by one, since a SET that fails may have set what stands before the fault. */
  async function reset(names: readonly string[]): Promise<void> {
    applied = new Map();
    for (const name of names) {
      const known = new Map([[name, defaults.get(name) ?? unsetValue]]);
      await set(known).catch(() => undefined);
    }
  }

  await set(defaults);
  return {
    async configure(settings, database) {
      if (database !== currentDatabase) {
        await session.queryAsync(`USE \`${database.replace(/[\\`]/g, '\\$&')}\``);
        currentDatabase = database;
      }
      await apply(settings);
    },
    async query(sql, format) {
      const result = await session.queryAsync(sql, { format }).catch(async (error: unknown) => {
        // chDB counts a query that failed as running until its session runs another.
        await session.queryAsync('SELECT 1').catch(() => undefined);
        throw error;
      });
      return { bytes: result.bytes(), rowsRead: result.rowsRead, bytesRead: result.bytesRead };
    },
    stream(sql, format) {
      return session.queryStream(sql, { format });
    },
    close() {
      session.close();
    },
  };
}
