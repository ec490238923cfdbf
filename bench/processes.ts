/** Resource usage of a process, from /proc (see proc(5)); Linux only. */
import { readFileSync } from 'node:fs';

/** Jiffies per second: USER_HZ, 100 on every Linux that Node supports. */
const ticksPerSecond = 100;

/** CPU seconds, user and system, of all threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Peak resident memory, bytes. */
export function peakMemoryBytes(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? Number.NaN) * 1024;
}
