/** What a process used so far, read from /proc (see proc(5)); Linux only. */
import { readFileSync } from 'node:fs';

/** Jiffies a second: USER_HZ, which is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** CPU time in seconds, user and system, of the process with all its threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The most memory it had resident at any time, in bytes. */
export function peakMemoryBytes(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? Number.NaN) * 1024;
}
