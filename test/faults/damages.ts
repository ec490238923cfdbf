/** Ways to damage a file, and the kinds of files in a data directory. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const damageNames = ['removed', 'emptied', 'halved', 'flipped'] as const;
export type DamageName = (typeof damageNames)[number];

const damages: Readonly<Record<DamageName, (file: string, position: number) => void>> = {
  removed: (file) => rmSync(file),
  emptied: (file) => truncateSync(file, 0),
  halved: (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  flipped(file, position) {
    const bytes = readFileSync(file);
    const at = Math.floor(bytes.length * position);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(file, bytes);
  },
};

/** @param position of the flipped bit, as a share of the length in [0, 1) */
export function damageFile(file: string, name: DamageName, position: number): void {
  damages[name](file, position);
}

/** A representative file of its kind. */
export interface FileKind {
  /** Path with `*` for the parts that vary. */
  readonly kind: string;
  /** Relative to the data directory. */
  readonly path: string;
}

/** @returns one file per kind: the first, and the last segment too */
export function fileKinds(dataDir: string): FileKind[] {
  const tables = tablesByFolder(dataDir);
  const kinds = new Map<string, FileKind>();
  for (const path of filesIn(dataDir)) {
    const kind = kindOf(path, tables);
    if (kind === undefined) continue;
    kinds.set(kinds.has(kind) && /\.(?:segment|keys)$/.test(path) ? `${kind} (last)` : kind, {
      kind,
      path,
    });
  }
  return [...kinds.entries()].map(([kind, { path }]) => ({ kind, path }));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size > 0)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Table names by their folder in `engine/store/store`. */
function tablesByFolder(dataDir: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const path of filesIn(join(dataDir, 'engine'))) {
    const name = /([^/]+)\.sql$/.exec(path)?.[1];
    if (name === undefined) continue;
    const text = readFileSync(join(dataDir, 'engine', path), 'utf8');
    const uuid = /UUID '([0-9a-f-]+)'/.exec(text)?.[1];
    if (uuid !== undefined) names.set(uuid, name);
  }
  return names;
}

const otherPaths = /^engine\/(?:run-\w+|store\/(?:data|metadata\/weir|tmp))\/|-shm$/;

/** Undefined for links to other files and for files created at each start. */
function kindOf(path: string, tables: ReadonlyMap<string, string>): string | undefined {
  // `data` and `metadata/weir` are links to folders in `store`.
  if (otherPaths.test(path)) return undefined;
  return path
    .replace(/[0-9a-f]{3}\/([0-9a-f]{8}-[0-9a-f-]+)/, (_, uuid: string) => tables.get(uuid) ?? '*')
    .replace(/\/(?:[0-9]{6,8}|all|[0-9a-f]{32})_\d+_\d+_\d+(?:_\d+)?\//, '/<part>/')
    .replace(/[0-9]{6,}/, '*');
}
