/** Writes the reference of all settings from the schema. */
import { listSettings, type Setting } from './settings.ts';

export interface ReferencePage {
  readonly name: string;
  readonly text: string;
}

const storagePage = 'config-storage.md';
const storageSections = ['queue', 'drain', 'store', 'engine', 'metrics', 'directory'];

/** @returns the pages of docs/ with every setting */
export function configReference(): ReferencePage[] {
  const sections = Map.groupBy(listSettings(), (setting) =>
    setting.path.length === 1 ? 'general' : setting.path[0]!,
  );
  const pages = Map.groupBy(sections, ([name]) =>
    storageSections.includes(name) ? storagePage : 'config.md',
  );
  return [...pages].map(([name, parts]) => {
    const introduction = name === storagePage ? storageIntroduction : generalIntroduction;
    const text = parts.map(
      ([title, settings]) => `## ${title}\n\n${settings.map(describe).join('\n')}\n`,
    );
    return { name, text: `${introduction}\n${text.join('\n')}` };
  });
}

const generalIntroduction = `# Configuration

Generated from \`src/config/schema.ts\` by \`npm run docs\`. Settings of the queue, the store, the
engine, metrics and the directory are in [${storagePage}](${storagePage}).

Set each value by a flag of \`weir serve\`, an environment variable, or a JSON file named by
\`--config\` (or \`WEIR_CONFIG\`). Flags override the environment, which overrides the file. In the
file each section is an object: \`{"ingest": {"port": 443}}\`. In flags and variables, lists are
separated by commas. Unknown names and invalid values prevent the start; all errors are listed.
`;

const storageIntroduction = `# Configuration of storage

Generated from \`src/config/schema.ts\` by \`npm run docs\`. How to set a value, and all other
settings: [config.md](config.md).
`;

function describe(setting: Setting): string {
  const facts = [
    `\`${setting.flag}\``,
    `\`${setting.environment}\``,
    `default ${toDefault(setting.defaultValue)}`,
  ];
  facts.push(toForm(setting));
  if (setting.minimum !== undefined) facts.push(`${setting.minimum} to ${setting.maximum ?? ''}`);
  return `- **${setting.key}**: ${setting.description}\n  ${facts.join(' · ')}`;
}

function toForm({ type, unit, choices }: Setting): string {
  if (choices !== undefined) return `${type === 'list' ? 'any' : 'one'} of ${choices.join(', ')}`;
  return unit === undefined ? type : `${type} (${unit})`;
}

function toDefault(value: unknown): string {
  return value === '' ? 'empty' : `\`${JSON.stringify(value)}\``;
}
