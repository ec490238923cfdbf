/**
 * Options of a script that is run by npm. `--help` prints the comment at the start of its file and
 * the options with their defaults; a wrong option exits with 2.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<Own extends Options> = ReturnType<typeof parseArgs<{ options: Own }>>['values'];

/** @param url `import.meta.url` of the script */
export function parseOptions<const Own extends Options>(url: string, options: Own): Values<Own> {
  passedArguments(url, options);
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usageOf(url, options)}`);
    process.exit(2);
  }
}

/** @returns the arguments, for a script that passes them on; ends the process after `--help` */
export function passedArguments(url: string, options: Options = {}): string[] {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usageOf(url, options));
    process.exit(0);
  }
  return args;
}

function usageOf(url: string, options: Options): string {
  const source = readFileSync(fileURLToPath(url), 'utf8');
  const comment = source.slice(source.indexOf('/**') + 3, source.indexOf('*/'));
  const lines = Object.entries(options).map(([name, option]) => {
    const value = option.type === 'boolean' ? '' : ' VALUE';
    const isGiven = option.default === undefined || option.default === '' || value === '';
    return `  --${name}${value}${isGiven ? '' : `  (default ${String(option.default)})`}`;
  });
  const list = lines.length === 0 ? [] : ['', 'Options:', ...lines];
  return [comment.replaceAll(/^ *\*? ?/gm, '').trim(), ...list].join('\n');
}
