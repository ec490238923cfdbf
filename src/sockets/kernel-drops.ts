/** Datagrams that the kernel dropped because the buffer of a UDP port was full. Linux only. */
import { readFileSync } from 'node:fs';

const intervalMs = 2000;

/**
 * Calls back with what was dropped since the last call, also when it is closed. Counts all sockets
 * of the port, whatever their address.
 */
export function watchKernelDrops(
  port: number,
  family: string,
  onDrops: (datagrams: number) => void,
): { close(): void } {
  const file = family === 'IPv6' ? '/proc/net/udp6' : '/proc/net/udp';
  let seen = 0;
  const look = () => {
    const drops = readDrops(file, port);
    if (drops > seen) onDrops(drops - seen);
    seen = drops;
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      look();
    },
  };
}

function readDrops(file: string, port: number): number {
  try {
    return countDrops(readFileSync(file, 'latin1'), port);
  } catch {
    // Another system than Linux, or one that hides the file.
    return 0;
  }
}

/** @param table as of /proc/net/udp: the second column is `ADDRESS:PORT`, the last one drops */
export function countDrops(table: string, port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local?.endsWith(suffix))
    .reduce((sum, columns) => sum + Number(columns.at(-1)), 0);
}
