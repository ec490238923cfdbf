/** Inputs that once broke a rule, as files; the tests replay each. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from './fuzz-run.ts';

export interface Fixture {
  readonly subject: string;
  /** The error at that time. */
  readonly fault: string;
  /** Base64. */
  readonly inputs: readonly string[];
}

export const fixtureDirectory = fileURLToPath(new URL('fixtures', import.meta.url));

export function readFixtures(): readonly (Fixture & { readonly file: string })[] {
  if (!existsSync(fixtureDirectory)) return [];
  const files = readdirSync(fixtureDirectory).filter((file) => file.endsWith('.json'));
  return files.map((file) => {
    const fixture = JSON.parse(readFileSync(join(fixtureDirectory, file), 'utf8')) as Fixture;
    return { ...fixture, file };
  });
}

/** @returns path of the file */
export function writeFixture(directory: string, finding: Finding): string {
  const { subject, seed, number, fault, inputs } = finding;
  const fixture: Fixture = {
    subject,
    fault: fault.slice(0, 500),
    inputs: inputs.map((input) => input.toString('base64')),
  };
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${subject}-${seed}-${number}.json`);
  writeFileSync(path, `${JSON.stringify(fixture, undefined, 2)}\n`);
  return path;
}
