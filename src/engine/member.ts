/** One chDB session: runs one query at a time, under settings that hold for that query only. */
import { type ChdbQueryStream, Session } from 'chdb';
import { changesBetween, type SettingMap, setStatement, unsetValue } from './settings.ts';

export interface Member {
  /**
   * Prepares the session for one query. The caller holds the member.
   * @throws the error of chDB for an unknown or invalid setting; the session then has its defaults
   */
  configure(session: SessionState): Promise<void>;
  /** Runs in another thread, and returns the whole result. */
  query(sql: string, format: string): Promise<MemberResult>;
  /** Plans on the main thread, then yields the result in chunks. One stream at a time. */
  stream(sql: string, format: string): ChdbQueryStream;
  /** Not while a query runs, which would crash the process. */
  close(): void;
}

export interface SessionState {
  /** Beyond the defaults of the session. */
  readonly settings: SettingMap;
  /**
   * By name, `param_` included, as the bytes of ClickHouse's escaped text format. A session keeps
   * them: the caller checks that the next query names none of these.
   */
  readonly parameters: ReadonlyMap<string, Uint8Array>;
  readonly database: string;
}

export interface MemberResult {
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

  async function set(changes: ReadonlyMap<string, Uint8Array | string>): Promise<void> {
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

  /** One by one, since a SET that fails may have set a part of its values. */
  async function reset(names: readonly string[]): Promise<void> {
    applied = new Map();
    for (const name of names) {
      const known = new Map([[name, defaults.get(name) ?? unsetValue]]);
      await set(known).catch(() => undefined);
    }
  }

  await set(defaults);
  return {
    async configure({ settings, parameters, database }) {
      if (database !== currentDatabase) {
        await session.queryAsync(`USE \`${database.replace(/[\\`]/g, '\\$&')}\``);
        currentDatabase = database;
      }
      await apply(settings);
      await set(parameters);
    },
    async query(sql, format) {
      const result = await session.queryAsync(sql, { format }).catch(async (error: unknown) => {
        // chDB lists a failed query as running until its session runs another.
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

/**
 * Compares settings with those that chDB reports: it ignores a setting whose name is misspelled or
 * whose value is out of bounds.
 * @throws Error naming each setting that differs
 */
export async function verifySettings(
  member: Pick<Member, 'query'>,
  scope: 'server_settings' | 'merge_tree_settings' | 'settings',
  wanted: SettingMap,
): Promise<void> {
  const { bytes } = await member.query(`SELECT name, value FROM system.${scope}`, 'TabSeparated');
  const lines = Buffer.from(bytes).toString().split('\n');
  const actual = new Map(lines.map((line) => line.split('\t', 2) as [string, string]));
  const faults = [...wanted].filter(([name, value]) => actual.get(name) !== value);
  if (faults.length === 0) return;
  const texts = faults.map(([name, value]) => {
    return `${name} is ${actual.get(name) ?? 'unknown'} instead of ${value}`;
  });
  throw new Error(`cannot start the engine: in system.${scope} ${texts.join('; ')}`);
}
