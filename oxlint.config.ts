/**
 * The linter's rules. Which folder may import which follows from the layers below; a ring is an
 * error, type imports included.
 */
import { readdirSync } from 'node:fs';
import { defineConfig, type OxlintOverride } from 'oxlint';

/** Folders of src/ that every part may import, each of them those before it. */
const words = [
  'model',
  'std',
  'query',
  'patterns',
  'codec',
  'promql',
  'transform',
  'rules',
  'config',
  'files',
  'channel',
  'telemetry',
];
/** Parts: each imports words alone. */
const leaves = ['admission', 'protocols', 'queue', 'store', 'engine', 'directory'];
/** What happens in which order: words, and the port.ts of leaves. */
const spines = ['ingest', 'stream', 'metrics', 'alerts', 'admin'];
/** Words, spines, and the port.ts of leaves. */
const edges = ['server', 'sockets', 'workers'];
/** The command line sees all that opens a service, besides words and ports. */
const composition = ['main', 'service', 'maintenance'];
const folders = [...words, ...leaves, ...spines, ...edges, 'cli', ...composition];
const outside = ['scripts', 'bench', 'ui'];

/** A bare rename is not durable. */
const renames = {
  name: 'node:fs',
  importNames: ['rename', 'renameSync'],
  message: 'use replaceFile or renameDurably of src/files',
};

/** The explorer, from what all pages see to what sees all pages. */
const explorerLayers = ['api', 'styles', 'parts', 'charts', 'app', 'links', 'manage'];
/** A page does not know another page; ui/src/app/pages.tsx loads them all. */
const explorerPages = readdirSync('ui/src').filter(
  (name) => !name.includes('.') && !explorerLayers.includes(name),
);
const explorerFolders = [...explorerLayers, ...explorerPages];
const protocols = readdirSync('src/protocols').filter((name) => !name.includes('.'));

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: {
    correctness: 'error',
  },
  options: {
    typeAware: true,
  },
  env: {
    es2024: true,
    node: true,
  },
  rules: {
    eqeqeq: 'error',
    curly: ['error', 'multi-line'],
    'no-console': 'error',
    'no-else-return': 'error',
    'no-lonely-if': 'error',
    'no-nested-ternary': 'off',
    'no-shadow': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'prefer-template': 'error',
    'object-shorthand': 'error',
    'no-useless-concat': 'error',
    'no-useless-return': 'error',
    'no-unused-vars': [
      'error',
      {
        argsIgnorePattern: '^_',
        varsIgnorePattern: '^_',
        caughtErrors: 'all',
      },
    ],
    'no-empty': [
      'error',
      {
        allowEmptyCatch: false,
      },
    ],
    'no-fallthrough': 'error',
    'no-throw-literal': 'error',
    'no-implicit-coercion': 'error',
    'no-restricted-globals': ['error', 'event', 'name'],
    'preserve-caught-error': 'error',
    'max-lines': ['error', { max: 300 }],
    'max-depth': ['error', 4],
    'max-lines-per-function': [
      'error',
      {
        max: 80,
        skipBlankLines: true,
        skipComments: true,
        IIFEs: false,
      },
    ],
    'import/no-default-export': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-self-import': 'error',
    'import/no-mutable-exports': 'error',
    'import/no-commonjs': 'error',
    'oxc/no-barrel-file': [
      'error',
      {
        threshold: 0,
      },
    ],
    'typescript/await-thenable': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-confusing-void-expression': 'off',
    'typescript/no-deprecated': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          {
            from: 'package',
            package: 'node:test',
            name: ['test', 'it', 'describe', 'suite'],
          },
        ],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/no-namespace': 'error',
    'typescript/no-non-null-assertion': 'off',
    'typescript/no-unnecessary-boolean-literal-compare': 'error',
    'typescript/no-unnecessary-template-expression': 'error',
    'typescript/no-unnecessary-type-assertion': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/restrict-plus-operands': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/restrict-template-expressions': [
      'error',
      {
        allowNumber: true,
        allowBoolean: true,
        allowAny: false,
        allowNullish: false,
      },
    ],
    'typescript/switch-exhaustiveness-check': [
      'error',
      {
        considerDefaultExhaustiveForUnions: true,
      },
    ],
    'typescript/unbound-method': 'off',
    'typescript/use-unknown-in-catch-callback-variable': 'error',
    'promise/always-return': 'off',
    'promise/no-multiple-resolved': 'error',
    'unicorn/no-abusive-eslint-disable': 'error',
    'unicorn/no-instanceof-array': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/throw-new-error': 'error',
  },
  overrides: [
    {
      files: ['ui/vite.config.ts', 'oxlint.config.ts'],
      rules: {
        'import/no-default-export': 'off',
      },
    },
    {
      files: [
        'src/cli/**',
        'scripts/**',
        'bench/**',
        'test/crash/crash.ts',
        'test/power/power-cuts.ts',
        'test/faults/faults.ts',
        'test/floods/floods.ts',
        'test/fuzz/fuzz.ts',
      ],
      rules: {
        'no-console': 'off',
      },
    },
    {
      files: ['**/*.test.ts', 'test/**', 'bench/**', 'scripts/**'],
      rules: {
        'max-lines-per-function': 'off',
      },
    },
    { files: ['**/*.test.ts'], rules: { 'max-lines': ['error', { max: 600 }] } },
    ...words.flatMap((folder, index) => only(folder, words.slice(0, index))),
    ...leaves.flatMap((folder) => only(folder, words)),
    ...spines.flatMap((folder) => only(folder, words, leaves)),
    ...edges.flatMap((folder) => only(folder, [...words, ...spines], leaves)),
    ...only('cli', [...words, ...composition], [...leaves, ...spines, ...edges]),
    ...protocols.flatMap((protocol) =>
      layer(
        `src/protocols/${protocol}`,
        anyOf([...leaves, ...spines, ...edges, 'cli', ...composition]),
        protocols.filter((other) => other !== protocol).map((other) => `../${other}/**`),
      ),
    ),
    ...explorerLayers.map((folder, index) => ({
      files: [`ui/src/${folder}/**`],
      rules: restrict(
        anyOf(explorerFolders.filter((name) => !explorerLayers.slice(0, index + 1).includes(name))),
      ),
    })),
    { files: ['ui/src/app/pages.tsx'], rules: { 'no-restricted-imports': 'off' } },
    ...explorerPages.map((page) => ({
      files: [`ui/src/${page}/**`],
      rules: restrict(anyOf(explorerPages.filter((other) => other !== page))),
    })),
  ],
  ignorePatterns: [
    'dist',
    'ui/src/api/schema.d.ts',
    'src/query/grammar{,-terms}.ts',
    'node_modules',
    'test/fixtures',
    'scripts/fixtures',
  ],
});

/**
 * @param seen folders of which every file may be imported.
 * @param ports folders of which only port.ts may be imported.
 */
function only(folder: string, seen: readonly string[], ports: readonly string[] = []) {
  const hidden = folders.filter((name) => ![folder, ...seen].includes(name));
  const visible = ports.map((name) => `!../${name}/port.ts`);
  return layer(`src/${folder}`, [...anyOf(hidden), ...visible]);
}

/** Unit tests may also import the harness in test/. */
function layer(folder: string, ...hidden: readonly (readonly string[])[]) {
  return [
    { files: [`${folder}/**`], rules: restrict(...hidden, anyOf([...outside, 'test'])) },
    { files: [`${folder}/**/*.test.ts`], rules: restrict(...hidden, anyOf(outside)) },
  ];
}

function restrict(...groups: readonly (readonly string[])[]): NonNullable<OxlintOverride['rules']> {
  const message = 'out of reach (see oxlint.config.ts): pass the part as an argument';
  const patterns = groups
    .filter((group) => group.length > 0)
    .map((group) => ({ group: [...group], message }));
  return { 'no-restricted-imports': ['error', { paths: [renames], patterns }] };
}

/** Relative imports of these folders, from up to three folders below. */
function anyOf(names: readonly string[]): string[] {
  return names.flatMap((name) =>
    ['../', '../../', '../../../'].flatMap((up) => [`${up}${name}/**`, `${up}${name}.ts`]),
  );
}
