/** Entry of the thread that owns the log, so that no other thread waits for the disk. */
import { isMainThread, parentPort } from 'node:worker_threads';
import { openChannel } from '../../channel/channel.ts';
import { overPort } from '../../channel/transports.ts';
import { createNodeFileSystem } from '../../files/file-system.ts';
import { createLogMethods, type LogMethods } from './log.ts';

if (!isMainThread && parentPort !== null) {
  openChannel<LogMethods, object>(overPort(parentPort), createLogMethods(createNodeFileSystem()));
}
