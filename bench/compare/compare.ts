/**
 * `npm run bench -- --quick --compare BASE`: the quick benchmark on a worktree of BASE and on this
 * tree in turn, so that slow changes of the machine affect both alike.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onInterrupt } from '../interrupt.ts';
import { describeMachine } from '../machine.ts';
import { compareFigures, type Figures, toFigures, toMarkdown } from './figures.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface CompareOptions {
  /** A git revision. */
  readonly base: string;
  /** Runs of each tree; at least 2. */
  readonly rounds: number;
}

/** @returns whether no figure got worse */
export async function benchCompare({ base, rounds }: CompareOptions): Promise<boolean> {
  if (!(rounds >= 2)) throw new Error('cannot estimate noise: --rounds must be at least 2');
  const commit = git('rev-parse', '--verify', '--end-of-options', `${base}^{commit}`);
  const scratch = mkdtempSync(join(tmpdir(), 'weir-compare-'));
  const worktree = join(scratch, 'base');
  const runner = createRunner(join(scratch, 'tmp'));
  let cleaned: Promise<void> | undefined;
  const cleanUp = () => {
    cleaned ??= runner.stop().then(() => {
      rmSync(scratch, { recursive: true, force: true });
      git('worktree', 'prune');
    });
    return cleaned;
  };
  const interruption = onInterrupt(cleanUp);
  try {
    git('worktree', 'add', '--quiet', '--detach', worktree, commit);
    installPackages(worktree);
    const before: Figures[] = [];
    const after: Figures[] = [];
    for (let round = 1; round <= rounds; round++) {
      say(`round ${round} of ${rounds}: ${base}`);
      before.push(toFigures(await runner.run(worktree)));
      say(`round ${round} of ${rounds}: this tree`);
      after.push(toFigures(await runner.run(repository)));
    }
    return report(before, after, `${base} (${commit.slice(0, 10)})`);
  } finally {
    await cleanUp();
    interruption.cancel();
  }
}

function report(before: readonly Figures[], after: readonly Figures[], base: string): boolean {
  const comparisons = compareFigures(before, after);
  if (comparisons.length === 0) throw new Error('cannot compare: no figure is in every run');
  const worse = comparisons.filter(({ verdict }) => verdict === 'worse');
  console.log(
    `Quick benchmark of this tree compared with ${base}, ${before.length} rounds, on ` +
      `${describeMachine()}.\n\n${toMarkdown(comparisons)}\n`,
  );
  for (const { name, ratio, noise } of worse) {
    const limit = `${(noise * 100).toFixed(0)} % of noise`;
    console.log(`worse: ${name}: ratio ${ratio.toFixed(2)}, more than ${limit}`);
  }
  console.log(`${worse.length} of ${comparisons.length} figures got worse`);
  return worse.length === 0;
}

/** The packages of this tree where the lock file is the same. */
function installPackages(worktree: string): void {
  const lockOf = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lockOf(worktree) === lockOf(repository)) {
    symlinkSync(join(repository, 'node_modules'), join(worktree, 'node_modules'));
  } else {
    say('npm ci');
    execFileSync('npm', ['ci'], { cwd: worktree, stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

/** Runs benchmarks, each as a process group, so that `stop` also ends the services they start. */
function createRunner(temporary: string) {
  let group: number | undefined;
  mkdirSync(temporary);
  return {
    /** @returns standard output */
    run(folder: string): Promise<string> {
      const child = spawn(process.execPath, [join(folder, 'bench/bench.ts'), '--quick'], {
        cwd: folder,
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      group = child.pid;
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      return new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (code, signal) => {
          if (code === 0) resolve(output);
          else reject(new Error(`cannot measure ${folder}: it ended with ${code ?? signal ?? 1}`));
        });
      });
    },
    /** Resolves once no process of the group is left. */
    async stop(): Promise<void> {
      const graceMs = 10_000;
      const startedAt = performance.now();
      while (group !== undefined) {
        const isPatient = performance.now() - startedAt < graceMs;
        if (!signalGroup(group, isPatient ? 'SIGTERM' : 'SIGKILL')) group = undefined;
        else await sleep(250);
      }
    },
  };
}

/** @returns whether the group has a process. */
function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: all have ended.
    return false;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
}

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
