/** Processor time of the gateway, by way of /proc. */
import { readFileSync } from 'node:fs';
import { workersOf } from '../harness/weir-process.ts';

/** As the kernel counts: USER_HZ is 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** Of the process and its workers; what cannot be read counts as none. */
export function cpuSeconds(pid: number): number {
  return [pid, ...workersOf(pid)].reduce((sum, one) => sum + ticksOf(one) / ticksPerSecond, 0);
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
