/**
 * Reads settings back from chDB, since one that is misspelt or out of bounds is silently not in
 * force.
 */
import type { Member } from './member.ts';
import { type SettingMap, settingFaults } from './settings.ts';

export type SettingScope = 'server_settings' | 'merge_tree_settings' | 'settings';

/** @throws Error naming each setting that is not as wanted */
export async function verifySettings(
  member: Member,
  scope: SettingScope,
  wanted: SettingMap,
): Promise<void> {
  const { bytes } = await member.query(`SELECT name, value FROM system.${scope}`, 'TabSeparated');
  const lines = Buffer.from(bytes).toString().split('\n');
  const actual = new Map(lines.map((line) => line.split('\t', 2) as [string, string]));
  const faults = settingFaults(wanted, actual);
  if (faults.length > 0) {
    throw new Error(`cannot start the engine: in system.${scope} ${faults.join('; ')}`);
  }
}
