/**
 * A copy of the log as it is at one moment, made beside the process that writes it: files that it
 * may remove meanwhile are held by hard links, and files that it appends to are told with the
 * length that counts. It knows nothing of where they are copied to.
 */
import { linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem, type FileSystem } from '../../files/file-system.ts';
import { isAbsent, temporarySuffix } from '../../files/whole-file.ts';
import { KeyCollector } from './key-chunk.ts';
import { pathsOf } from './log-options.ts';
import { parseSegmentName, segmentHeaderBytes, segmentName } from './segment.ts';
import { inspectSegment, scanSegment } from './segment-file.ts';

/** The beginning of a file that no longer changes. */
export interface HeldFile {
  /** Where to read it. */
  readonly source: string;
  /** Where it belongs in a copy, from the queue's directory on, with slashes. */
  readonly path: string;
  /** How much of it counts. */
  readonly bytes: number;
}

/** Below the queue's directory; the log itself looks at plain files alone. */
const holdName = 'backup';

/**
 * Holds every batch that is durable by now and not yet released, and what belongs to them. To be
 * let go of with `letGoOfLog`, before which no segment's space is freed.
 * @param directory of the queue.
 * @throws Error where the directory cannot be read or linked in
 */
export function holdLog(directory: string): HeldFile[] {
  letGoOfLog(directory);
  const fs = createNodeFileSystem();
  const paths = pathsOf(directory);
  const held = pathsOf(join(directory, holdName));
  for (const folder of [held.root, held.segments, held.keys, held.quarantine]) {
    mkdirSync(folder, { mode: 0o700 });
  }
  for (const name of readdirSync(paths.segments)) {
    // One that is gone was released, which the checkpoint, linked after it, says as well.
    if (parseSegmentName(name) !== undefined) tryLink(paths, held, 'segments', name);
  }
  for (const name of ['checkpoint', 'identity']) tryLink(paths, held, 'root', name);
  const segments = holdSegments(fs, held.segments);
  // After the segments: the keys of one that has its seal are here by now.
  for (const folder of ['keys', 'quarantine'] as const) {
    linkAll(paths, held, folder);
  }
  return [
    ...wholeFiles(held.root, ''),
    ...segments,
    ...wholeFiles(held.keys, 'keys/'),
    ...wholeFiles(held.quarantine, 'quarantine/'),
  ];
}

/** Frees what a hold, of this process or one that was killed, keeps on disk. */
export function letGoOfLog(directory: string): void {
  rmSync(join(directory, holdName), { recursive: true, force: true });
}

type Folders = ReturnType<typeof pathsOf>;

/**
 * Looks again where a file was gone before it could be held: a batch may have got another name
 * meanwhile.
 */
function linkAll(from: Folders, to: Folders, folder: keyof Folders): void {
  const linked = new Set<string>();
  for (let isComplete = false; !isComplete; ) {
    isComplete = true;
    for (const name of readdirSync(from[folder])) {
      if (name.endsWith(temporarySuffix) || linked.has(name)) continue;
      if (tryLink(from, to, folder, name)) linked.add(name);
      else isComplete = false;
    }
  }
}

/** @returns false where the file is gone. */
function tryLink(from: Folders, to: Folders, folder: keyof Folders, name: string): boolean {
  try {
    linkSync(join(from[folder], name), join(to[folder], name));
    return true;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return false;
  }
}

/**
 * The segment being written ends in its last whole batch: half a batch would look like damage to
 * whoever opens the copy.
 */
function holdSegments(fs: FileSystem, folder: string): HeldFile[] {
  return fs
    .list(folder)
    .sort()
    .flatMap((name) => {
      const segment = inspectSegment(fs, folder, parseSegmentName(name)!);
      const path = `segments/${segmentName(segment.firstSequence)}`;
      const { path: source, header, sealed, fileBytes } = segment;
      if (sealed) return [{ source, path, bytes: fileBytes }];
      // It was just begun: nothing in it was acknowledged.
      if (fileBytes <= segmentHeaderBytes) return [];
      if (header === undefined) return [{ source, path, bytes: fileBytes }];
      const { summary } = scanSegment(fs, segment, header.writer, new KeyCollector());
      return [{ source, path, bytes: summary.end }];
    });
}

function wholeFiles(folder: string, prefix: string): HeldFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => {
      const source = join(folder, name);
      return { source, path: `${prefix}${name}`, bytes: statSync(source).size };
    });
}
