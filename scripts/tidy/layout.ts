/**
 * The rules of direction: which folder may import which. The bands stand in `bands`, from the words
 * that all may see up to the entries that see everything. Rings and files that nothing reaches are
 * found here too.
 */
import type { Import, Source } from './source.ts';
import type { Violation } from './violation.ts';

/** Folders of `src/` by band, from the lowest; the composition at the top may import anything. */
const bands = {
  words: ['model', 'std', 'codec', 'config', 'files', 'channel', 'telemetry'],
  leaves: ['admission', 'protocols', 'queue', 'store', 'engine', 'directory'],
  spines: ['ingest', 'stream', 'metrics', 'admin'],
  edge: ['server', 'workers'],
  entries: ['cli'],
} as const;
/** Order within the words: each sees those before it. */
const words: readonly string[] = bands.words;
const composition: readonly string[] = ['', 'service', 'maintenance'];
type Band = keyof typeof bands;

/** Built-ins without input or output. */
const modelMayImport = ['node:buffer', 'node:crypto'];

/**
 * Files that run by themselves: the command, the processes and what node:test or npm scripts start.
 */
const entryPatterns = [
  /^src\/cli\/weir\.ts$/,
  /^ui\/src\/main\.tsx$/,
  /^(?:src|ui\/src|test|scripts|bench)\/.*\.test\.ts$/,
  /^(?:scripts\/[^/]+|bench\/bench|test\/queue\/append-cost)\.ts$/,
  /^(?:test\/explorer\/screenshots|bench\/explorer\/explorer)\.ts$/,
  /^test\/(?:crash\/crash|floods\/floods|power\/power-cuts|faults\/faults)\.ts$/,
];

interface Place {
  /**
   * `queue` for src/queue/disk/log.ts; `protocols/otlp` for each protocol; empty for src/main.ts.
   */
  readonly folder: string;
  readonly band: Band | undefined;
}

export function checkLayout(files: readonly Source[]): Violation[] {
  const paths = new Set(files.map(({ path }) => path));
  const sources = files.map((source) => withMentions(source, paths));
  return [...sources.flatMap(checkImports), ...checkRings(sources), ...checkReach(sources)];
}

/** Counts a file that is meant by its name as imported, unless it is that already. */
function withMentions(source: Source, paths: ReadonlySet<string>): Source {
  const known = new Set([source.path, ...source.imports.map(({ target }) => target)]);
  const started = source.mentions.filter(
    ({ target = '' }) => paths.has(target) && !known.has(target),
  );
  return { ...source, imports: [...source.imports, ...started] };
}

function checkImports(source: Source): Violation[] {
  return source.imports.flatMap((entry) => {
    const fault =
      entry.target === undefined
        ? faultOfPackage(source, entry)
        : faultOfFile(source, entry.target);
    return fault === undefined ? [] : [{ path: source.path, line: entry.line, ...fault }];
  });
}

type Fault = Pick<Violation, 'rule' | 'message'>;

function faultOfPackage(source: Source, { specifier, typeOnly }: Import): Fault | undefined {
  if (/^[#~]|^@\//.test(specifier)) {
    const message = `the path alias ${specifier} is banned, use a relative path`;
    return { rule: 'alias', message };
  }
  const isModel = placeOf(source.path).folder === 'model' && !source.path.endsWith('.test.ts');
  const isPlain = modelMayImport.includes(specifier) || (typeOnly && specifier === 'zod');
  if (!isModel || isPlain) return undefined;
  return { rule: 'words', message: `model imports ${specifier}: use the plain language alone` };
}

function faultOfFile({ path }: Source, target: string): Fault | undefined {
  if (path.startsWith('ui/')) return faultOfExplorer(path, target);
  if (!path.startsWith('src/')) return undefined;
  const isTestFile = path.endsWith('.test.ts') && target.startsWith('test/');
  if (!target.startsWith('src/') && target !== 'package.json' && !isTestFile) {
    return { rule: 'outside', message: `src imports ${target}: what src needs belongs into src` };
  }
  const reason = forbidden(placeOf(path), placeOf(target), target);
  if (reason === undefined || isTestFile) return undefined;
  return { rule: 'direction', message: `${target} is out of reach: ${reason}` };
}

/**
 * In the explorer, from what all may see to what sees everything: the API's client; parts and
 * charts, which know of no page; the app around the pages; and the pages, which know nothing of
 * each other.
 */
function faultOfExplorer(path: string, target: string): Fault | undefined {
  if (!target.startsWith('ui/src/')) {
    if (path.endsWith('.test.ts')) return undefined;
    const message = `the explorer imports ${target}: it knows the service by its API alone`;
    return { rule: 'outside', message };
  }
  const [from, to] = [folderOfExplorer(path), folderOfExplorer(target)];
  const isDown = bandOfExplorer(to) < bandOfExplorer(from);
  // The list of pages names them all, and loads each when it is asked for.
  if (from === to || isDown || path === 'ui/src/app/pages.tsx') return undefined;
  const message = `${target} is out of reach: parts know no page, and pages no other page`;
  return { rule: 'direction', message };
}

const explorerBands: readonly (readonly string[])[] = [
  ['api', 'styles'],
  ['parts'],
  ['charts'],
  ['app'],
  ['manage'],
];

/** Empty for what lies directly in `ui/src`. */
function folderOfExplorer(path: string): string {
  const [, , folder = '', inner] = path.split('/');
  return inner === undefined ? '' : folder;
}

/** A page is above all bands, and what starts the explorer above the pages. */
function bandOfExplorer(folder: string): number {
  if (folder === '') return explorerBands.length + 1;
  const band = explorerBands.findIndex((folders) => folders.includes(folder));
  return band === -1 ? explorerBands.length : band;
}

/** Why `from` must not import `to`, or undefined where it may. */
function forbidden(from: Place, to: Place, target: string): string | undefined {
  if (from.folder === to.folder) return undefined;
  if (from.band === undefined) return undefined;
  if (composition.includes(to.folder)) {
    return from.folder === 'cli'
      ? undefined
      : 'only the command line runs main, pass values as arguments';
  }
  const isPort = target.endsWith('/port.ts');
  switch (from.band) {
    case 'words':
      if (words.indexOf(to.folder) < words.indexOf(from.folder) && to.band === 'words') {
        return undefined;
      }
      return 'a word sees only the words below it, move the value into model';
    case 'leaves':
      if (to.band === 'words') return undefined;
      return 'a leaf sees words only, let main or a spine pass the value';
    case 'spines':
      if (to.band === 'words') return undefined;
      if (to.band === 'leaves' && isPort) return undefined;
      return 'a spine sees words and the port file of a leaf, take the part as an argument';
    case 'edge':
      if (to.band === 'words' || to.band === 'spines' || (to.band === 'leaves' && isPort)) {
        return undefined;
      }
      return 'the edge sees words, spines and ports';
    case 'entries':
      if (to.band === 'words') return undefined;
      if (isPort) return undefined;
      return 'the command line speaks HTTP, only main opens parts';
  }
}

function placeOf(path: string): Place {
  const [root, folder = '', inner = '', rest] = path.split('/');
  if (root !== 'src' || inner === '') return { folder: '', band: undefined };
  const band = (Object.keys(bands) as Band[]).find((name) =>
    (bands[name] as readonly string[]).includes(folder),
  );
  const isProtocol = folder === 'protocols' && rest !== undefined;
  return { folder: isProtocol ? `protocols/${inner}` : folder, band };
}

/** Every ring of imports that remain at run time, each named once. */
function checkRings(sources: readonly Source[]): Violation[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const state = new Map<string, 'open' | 'done'>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      const ring = [...trail.slice(trail.indexOf(path)), path].join(' -> ');
      violations.push({ path, line: 1, rule: 'ring', message: `imports run in a ring: ${ring}` });
      return;
    }
    state.set(path, 'open');
    for (const entry of byPath.get(path)?.imports ?? []) {
      if (!entry.typeOnly && entry.target !== undefined) visit(entry.target, [...trail, path]);
    }
    state.set(path, 'done');
  };
  for (const { path } of sources) visit(path, []);
  return violations;
}

/** Files that no entry reaches, neither by import nor by name. */
function checkReach(sources: readonly Source[]): Violation[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const pending = sources
    .map(({ path }) => path)
    .filter((path) => entryPatterns.some((pattern) => pattern.test(path)));
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (target !== undefined) pending.push(target);
    }
  }
  return sources
    .filter(({ path }) => !reached.has(path) && !path.endsWith('.d.ts'))
    .map(({ path }) => ({
      path,
      line: 1,
      rule: 'unused',
      message: 'no command, process or test reaches this file: import it or delete it',
    }));
}
