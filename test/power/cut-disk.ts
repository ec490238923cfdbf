/**
 * A file system on a loop device whose power can be cut: `FS_IOC_SHUTDOWN` without a log flush
 * drops everything that was not synced. Linux, as root.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../harness/until.ts';
import { isAlive } from '../harness/weir-process.ts';

export type FileSystemName = KernelFileSystem | 'lazyfs';
type KernelFileSystem = 'ext4' | 'xfs' | 'btrfs';

export interface CutDisk {
  /** Its mount point. */
  readonly path: string;
  /**
   * Suspends these processes and drops unsynced data; every later operation fails until `powerOn`.
   * Running processes could acknowledge lost data, since a sync that races with the cut may succeed
   * (ext4, Linux 6.18: one in ten cuts under three writers).
   */
  cut(pids: readonly number[]): void;
  /** Syncs everything; every later operation fails until `powerOn`. Not for LazyFS. */
  fail(): void;
  /** Mounts again, which replays the journal. No process may use the file system. */
  powerOn(): Promise<void>;
  /** The two halves of `powerOn`, for nested mounts. */
  unmount(): Promise<void>;
  mount(): void;
  /** Unmounts and deletes it. */
  remove(): Promise<void>;
}

const makers: Readonly<Record<KernelFileSystem, readonly string[]>> = {
  ext4: ['mkfs.ext4', '-q', '-F'],
  xfs: ['mkfs.xfs', '-q', '-f'],
  btrfs: ['mkfs.btrfs', '-q', '-f'],
};

/** @returns why power cuts are impossible here; undefined if they are possible */
export function whyNoCutDisk(kind: FileSystemName): string | undefined {
  if (process.platform !== 'linux') return 'loop devices need Linux';
  if (process.getuid?.() !== 0) return 'mounting a loop device needs root';
  if (kind === 'lazyfs') return lazyFsBinary === '' ? 'LAZYFS names no binary' : undefined;
  for (const program of [makers[kind][0] ?? '', 'mount', 'umount', 'perl']) {
    if (!isInstalled(program)) return `${program} is not installed`;
  }
  try {
    const disk = createCutDisk(kind, 512 * 2 ** 20);
    disk.cut([]);
    void disk.remove();
    return undefined;
  } catch (error) {
    return `a loop device cannot be mounted and shut down here: ${String(error)}`;
  }
}

/** @param mountPoint an empty folder; default: next to the image */
export function createCutDisk(kind: FileSystemName, bytes: number, mountPoint?: string): CutDisk {
  // LazyFS would parse a path containing "-o" as an option.
  const folder = mkdtempSync(join(tmpdir(), 'weir-power_'));
  const image = join(folder, 'disk.img');
  const path = mountPoint ?? join(folder, 'mount');
  mkdirSync(path, { recursive: true });
  if (kind === 'lazyfs') return createLazyDisk(folder, path);
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const [program = '', ...flags] = makers[kind];
  run(program, ...flags, image);
  const mount = () => run('mount', '-t', kind, '-o', 'loop', image, path);
  mount();
  rmSync(join(path, 'lost+found'), { recursive: true, force: true });
  return {
    path,
    mount,
    unmount: () => unmount(path),
    cut: (pids) => run('perl', '-e', shutdownScript, path, noLogFlush, ...pids.map(String)),
    fail: () => run('perl', '-e', shutdownScript, path, syncFirst),
    async powerOn() {
      await unmount(path);
      mount();
    },
    async remove() {
      await unmount(path);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Built from https://github.com/dsrhaslab/lazyfs */
const lazyFsBinary = process.env['LAZYFS'] ?? '';

/** LazyFS keeps unsynced data in memory, so killing it is the power cut. */
function createLazyDisk(folder: string, path: string): CutDisk {
  const [root, config] = [join(folder, 'root'), join(folder, 'lazyfs.toml')];
  mkdirSync(root);
  const faults = `[faults]\nfifo_path="${join(folder, 'faults.fifo')}"\n`;
  const cache =
    '[cache]\napply_eviction=false\n[cache.simple]\ncustom_size="4gb"\nblocks_per_page=1\n';
  writeFileSync(config, `${faults}${cache}[filesystem]\nlog_all_operations=false\nlogfile=""\n`);
  const args = [path, '--config-path', config, '-o', 'modules=subdir', '-o', `subdir=${root}`];
  let running: ChildProcess;
  const mount = () => {
    running = spawn(lazyFsBinary, [...args, '-f'], { stdio: 'ignore' });
    // Ready once the mount point is another device.
    while (statSync(path).dev === statSync(folder).dev) {
      if (!isAlive(running.pid ?? 0)) throw new Error(`${lazyFsBinary} ended`);
      execFileSync('sleep', ['0.02']);
    }
  };
  mount();
  const powerOff = async () => {
    running.kill('SIGKILL');
    await unmount(path);
  };
  return {
    path,
    mount,
    cut(pids) {
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      running.kill('SIGKILL');
    },
    fail: () => running.kill('SIGKILL'),
    unmount: powerOff,
    async powerOn() {
      await powerOff();
      mount();
    },
    async remove() {
      await powerOff();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** FS_IOC_SHUTDOWN (include/uapi/linux/fs.h): folder, flags, pids to suspend first. */
const shutdownScript =
  'my ($folder, $flags, @pids) = @ARGV; open(my $f, "<", $folder) or die $!; ' +
  'my $how = pack("L", $flags); kill "STOP", @pids; ioctl($f, 0x8004587D, $how) or die $!';
/** FS_SHUTDOWN_FLAGS_DEFAULT. */
const syncFirst = '0';
/** FS_SHUTDOWN_FLAGS_NOLOGFLUSH. */
const noLogFlush = '2';

/** The kernel closes the files of a killed process a moment after its end. */
async function unmount(path: string): Promise<void> {
  const attempt = () => {
    try {
      run('umount', path);
      return true;
    } catch {
      return false;
    }
  };
  await until(attempt, { what: `${path} to be unmounted`, everyMs: 50 });
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
