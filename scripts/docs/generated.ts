/** The generated documents and their current text. */
import { readFileSync } from 'node:fs';
import { buildParserFile } from '@lezer/generator';
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
    ...queryGrammar(at('src/query/')),
    ...configReference().map(({ name, text }) => ({ file: at(`docs/${name}`), text })),
    { file: at('docs/metrics.md'), text: metricsReference() },
    { file: at('openapi/ingest.json'), text: `${JSON.stringify(ingest, undefined, 2)}\n` },
    { file: at('openapi/stream.json'), text: `${JSON.stringify(stream, undefined, 2)}\n` },
  ];
}

/** The tables and terms of the query language. */
function queryGrammar(folder: URL): GeneratedDocument[] {
  const source = readFileSync(new URL('query.grammar', folder), 'utf8');
  const { parser, terms } = buildParserFile(source, {
    fileName: 'query.grammar',
    typeScript: true,
  });
  const toText = (code: string) =>
    `/** Generated from query.grammar by \`npm run docs\`. */\n${code.replace(/^\/\/.*\n/, '')}`;
  return [
    { file: new URL('grammar.ts', folder), text: toText(parser) },
    { file: new URL('grammar-terms.ts', folder), text: toText(terms) },
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
