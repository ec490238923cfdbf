/**
 * A file system of its own on a loop device, whose power can be cut: everything that was not synced
 * is gone, as `FS_IOC_SHUTDOWN` without a log flush leaves it. Linux, as root.
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
  /** Where it is mounted. */
  readonly path: string;
  /**
   * Stops these processes and drops what was not synced; every later operation fails until
   * `powerOn`. Without the stop they could acknowledge what is lost: a sync that meets the cut
   * half way may succeed (ext4, Linux 6.18: one in ten cuts under three writers).
   */
  cut(pids: readonly number[]): void;
  /** Syncs everything; every later operation fails until `powerOn`. Not of LazyFS. */
  fail(): void;
  /** Mounts again, which replays the journal. No process may use the file system any more. */
  powerOn(): Promise<void>;
  /** The halves of `powerOn`, where disks are mounted in each other. */
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

/** @returns why power cannot be cut here; undefined where it can */
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

/** @param mountPoint an empty folder; by default one beside the image */
export function createCutDisk(kind: FileSystemName, bytes: number, mountPoint?: string): CutDisk {
  // LazyFS takes a path with "-o" for an option.
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

/** Holds in its memory what was not synced, so that its end is the power cut. */
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
    // It serves its mount point from the moment at which that is another device.
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

/** FS_IOC_SHUTDOWN (include/uapi/linux/fs.h): folder, flags, processes to stop just before. */
const shutdownScript =
  'my ($folder, $flags, @pids) = @ARGV; open(my $f, "<", $folder) or die $!; ' +
  'my $how = pack("L", $flags); kill "STOP", @pids; ioctl($f, 0x8004587D, $how) or die $!';
/** FS_SHUTDOWN_FLAGS_DEFAULT. */
const syncFirst = '0';
/** FS_SHUTDOWN_FLAGS_NOLOGFLUSH. */
const noLogFlush = '2';

/** The kernel lets go of the files of a killed process a moment after its end. */
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
