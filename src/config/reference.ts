/** Writes the reference of all settings, from the schema itself. */
import { listSettings, type Setting } from './settings.ts';

/** The text of docs/config.md. */
export function configReference(): string {
  const sections = Map.groupBy(listSettings(), (setting) =>
    setting.path.length === 1 ? 'general' : setting.path[0]!,
  );
  const parts = [...sections].map(
    ([name, settings]) =>
      `## ${name}\n\n${settings.map((setting) => describe(setting)).join('\n')}\n`,
  );
  return `${introduction}\n${parts.join('\n')}`;
}

const introduction = `# Configuration

Generated from \`src/config/schema.ts\` by \`npm run docs\`.

Each setting can be given as a flag of \`weir serve\`, as an environment variable, or in a JSON file
named by \`--config\` (or \`WEIR_CONFIG\`); flags win over the environment, the environment over the
file, the file over the default. In the file the part before the point is an object:
\`{"ingest": {"port": 443}}\`. Outside the file a list is separated by commas. An unknown name or a
bad value stops the start, and every fault is listed.
`;

function describe(setting: Setting): string {
  const facts = [
    `\`${setting.flag}\``,
    `\`${setting.environment}\``,
    `default ${toDefault(setting.defaultValue)}`,
  ];
  if (setting.choices !== undefined) facts.push(`one of ${setting.choices.join(', ')}`);
  else facts.push(setting.unit === undefined ? setting.type : `${setting.type} (${setting.unit})`);
  if (setting.minimum !== undefined) facts.push(`${setting.minimum} to ${setting.maximum ?? ''}`);
  return `- **${setting.key}**: ${setting.description}\n  ${facts.join(' · ')}`;
}

function toDefault(value: unknown): string {
  return value === '' ? 'empty' : `\`${JSON.stringify(value)}\``;
}
