#!/usr/bin/env -S node --max-semi-space-size=4
/**
 * The command `weir`. A small nursery for new objects, which can be set only before Node starts,
 * saves the service a fifth of its memory and costs it nothing. Nothing else is loaded before the
 * version of Node is known to do, since an older one would fail on the first file with words that
 * help nobody.
 */
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`weir needs Node 24 or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  const { openProcessTerminal } = await import('./process-terminal.ts');
  const { run } = await import('./program.ts');
  process.exitCode = await run(process.argv.slice(2), openProcessTerminal());
}
