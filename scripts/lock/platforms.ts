/** Entries of a lock file for packages of other platforms. Pure. */

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** @returns the lock with an entry for every optional dependency that a package names exactly */
export function withPlatforms(lock: Lock): Lock {
  const packages = new Map<string, object>(Object.entries(lock.packages));
  for (const { name, version, dev } of missingPlatforms(lock)) {
    const entry = { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) };
    packages.set(`node_modules/${name}`, entry);
  }
  const sorted = [...packages].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

export interface MissingPlatform {
  readonly name: string;
  readonly version: string;
  readonly dev: boolean;
}

export function missingPlatforms({ packages }: Lock): MissingPlatform[] {
  return Object.values(packages).flatMap(({ optionalDependencies = {}, dev = false }) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => packages[`node_modules/${name}`] === undefined)
      .map(([name, version]) => ({ name, version, dev })),
  );
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64'];

/** Native packages carry their platform in their name, as `@x/y-linux-x64-musl`. */
function platformOf(name: string): { os: string[]; cpu: string[]; libc?: string[] } {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  const isMusl = words.some((word) => word.startsWith('musl'));
  const isGlibc = words.some((word) => word.startsWith('gnu'));
  if (!os.includes('linux') || !(isMusl || isGlibc)) return { os, cpu };
  return { os, cpu, libc: [isMusl ? 'musl' : 'glibc'] };
}
