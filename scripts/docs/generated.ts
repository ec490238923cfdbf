/** The generated documents and their current text. */
import { configReference } from '../../src/config/reference.ts';
import { metricTables } from '../../src/telemetry/metrics.ts';
import { openApiDocuments } from './openapi.ts';

export interface GeneratedDocument {
  readonly file: URL;
  readonly text: string;
}

export function generatedDocuments(): GeneratedDocument[] {
  const at = (path: string) => new URL(`../../${path}`, import.meta.url);
  const { ingest, stream } = openApiDocuments();
  return [
    ...configReference().map(({ name, text }) => ({ file: at(`docs/${name}`), text })),
    { file: at('docs/metrics.md'), text: metricsReference() },
    { file: at('openapi/ingest.json'), text: `${JSON.stringify(ingest, undefined, 2)}\n` },
    { file: at('openapi/stream.json'), text: `${JSON.stringify(stream, undefined, 2)}\n` },
  ];
}

function metricsReference(): string {
  const sections = metricTables.map(([title, table]) => {
    const rows = Object.entries(table).map(
      ([name, { kind, help, labels }]) =>
        `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
    return [`## ${title}`, '', '| Name | Kind | Labels | Meaning |', '|---|---|---|---|', ...rows];
  });
  const intro = [
    '# Metrics',
    '',
    'Generated from `src/telemetry/metrics.ts` by `npm run docs`. A node serves the metrics of the',
    'parts that run on it at `/metrics` of its operations port.',
  ];
  return `${[intro, ...sections].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
