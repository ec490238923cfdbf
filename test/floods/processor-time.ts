/** CPU time of the gateway, from /proc. */
import { readFileSync } from 'node:fs';
import { workersOf } from '../harness/weir-process.ts';

/** USER_HZ, which is 100 on every architecture that Node supports. */
const ticksPerSecond = 100;

/** The process and its workers; unreadable = 0. */
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
