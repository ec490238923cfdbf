/** Damages every kind of file of a data directory in every way and starts the service on each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Random } from '../harness/random.ts';
import { type CaseResult, runCase } from './damage-case.ts';
import { damageFile, type DamageName, damageNames, fileKinds } from './damages.ts';
import { copyDataFolder, createDataFolder, type DataFolder } from './data-folder.ts';

export interface DamageOptions {
  readonly random: Random;
  /** Only kinds of files whose path contains this text. */
  readonly match: string;
  /** Maximum of cases, chosen at random. */
  readonly sample: number;
  /** Called with each row of the table. */
  readonly say: (row: string) => void;
}

interface Case {
  readonly kind: string;
  readonly path: string;
  readonly damage: DamageName;
  readonly position: number;
}

/** Two at a time: a start waits for the disk as much as for the CPU. */
const atOnce = 2;

/** @returns one sentence per case that was silent or refused without naming the file */
export async function runDamages(options: DamageOptions): Promise<string[]> {
  const { random, say } = options;
  const work = mkdtempSync(join(tmpdir(), 'weir-faults-'));
  const faults: string[] = [];
  try {
    const folder = await createDataFolder(join(work, 'whole'));
    const whole = await runCase(folder, copyDataFolder(folder, work, 'control'));
    if (whole.said.length + whole.wrong.length > 0) {
      throw new Error(`an undamaged folder is not as it was: ${JSON.stringify(whole)}`);
    }
    say('| file | damage | start | acknowledged data | said | |\n|---|---|---|---|---|---|');
    const queue = toCases(folder, options).values();
    const runNext = async () => {
      for (const each of queue) {
        const copy = copyDataFolder(folder, work, `case-${random.integer(0, 2 ** 30)}`);
        damageFile(join(copy, each.path), each.damage, each.position);
        const result = await runCase(folder, copy);
        rmSync(copy, { recursive: true, force: true });
        const fault = faultOf(each, result);
        if (fault !== undefined) faults.push(`${each.kind} ${each.damage}: ${fault}`);
        say(toRow(each, result, fault).replaceAll(copy, '<data>'));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, runNext));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return faults;
}

function toCases(folder: DataFolder, { random, match, sample }: DamageOptions): Case[] {
  return fileKinds(folder.path)
    .filter(({ kind }) => kind.includes(match))
    .flatMap(({ kind, path }) => damageNames.map((damage) => ({ kind, path, damage })))
    .map((each) => ({ ...each, position: random.next(), order: random.next() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, sample)
    .toSorted((a, b) => a.kind.localeCompare(b.kind));
}

/** @returns why the outcome is a defect; undefined if it is not */
function faultOf({ kind, path }: Case, { refused, said, wrong }: CaseResult): string | undefined {
  if (refused === undefined) return wrong.length > 0 && said.length === 0 ? 'silent' : undefined;
  const names = [basename(path), ...kind.split('/').filter((name) => /^[a-z_]{4,}$/.test(name))];
  const isNamed = said.some((line) => names.some((name) => line.includes(name)));
  return isNamed ? undefined : 'refused without a word that names it';
}

const maxWords = 160;

function toRow({ kind, damage }: Case, result: CaseResult, fault = ''): string {
  const start = result.refused === undefined ? 'starts' : `refused (${String(result.refused)})`;
  const outcome = result.wrong.join('; ') || 'nothing lost';
  const words = result.said.map((line) => line.slice(0, maxWords)).join('; ') || 'nothing';
  const cells = [kind, damage, start, outcome, words, fault];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
