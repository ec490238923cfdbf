#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 node --max-semi-space-size=4
/**
 * The command `weir`, with the flags and the environment of `src/service/process.ts`. A small
 * semi-space, which only a flag of Node can set, saves the service a fifth of its memory. Imports
 * wait for the check of the version, because an older Node fails on the first of them with a syntax
 * error.
 */
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`weir needs Node 24 or newer; this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  const { openProcessTerminal } = await import('./terminal.ts');
  const { run } = await import('./program.ts');
  process.exitCode = await run(process.argv.slice(2), openProcessTerminal());
}
