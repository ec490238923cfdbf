/** A wall clock of the service that a test can set while it runs, by libfaketime. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FakeClock {
  /** Environment of the processes that use it. */
  readonly env: Readonly<Record<string, string>>;
  /** @param seconds ahead of (or behind) the real time */
  set(seconds: number): void;
}

/**
 * Debian's package `faketime`. The engine reads the kernel's clock directly and keeps the real
 * time.
 */
const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
];

/** @returns undefined when the library is missing */
export function createFakeClock(folder: string): FakeClock | undefined {
  const library = libraries.find((path) => existsSync(path));
  if (library === undefined) return undefined;
  const file = join(folder, 'faketime');
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
  };
}
