/** Description of the machine. */
import { cpus, release, totalmem, type } from 'node:os';

export function describeMachine(): string {
  const all = cpus();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const model = all[0]?.model.trim() ?? 'unknown processor';
  return `${all.length} × ${model}, ${memory}, ${type()} ${release()}, Node ${process.version}`;
}
