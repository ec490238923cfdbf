/**
 * `npm run fuzz -- --seconds N --seed S --protocol P`: fuzzes every decoder, or one, until the time
 * is up or a rule breaks; the input becomes a fixture.
 */
import { parseOptions } from '../../scripts/script-options.ts';
import { fixtureDirectory, writeFixture } from './fixture.ts';
import { fuzz } from './fuzz-run.ts';
import { subjects } from './subjects.ts';

const values = parseOptions(import.meta.url, {
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string' },
  protocol: { type: 'string' },
  into: { type: 'string', default: fixtureDirectory },
});
const { protocol, into } = values;
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const names = subjects.map(({ name }) => name);
if (protocol !== undefined && !names.includes(protocol)) {
  throw new Error(`cannot fuzz ${protocol}: there are ${names.join(', ')}`);
}
const chosen = subjects.filter(({ name }) => protocol === undefined || name === protocol);
const again = protocol === undefined ? '' : ` --protocol ${protocol}`;
console.log(`seed ${seed}: npm run fuzz -- --seconds ${seconds} --seed ${seed}${again}`);

const casesAtOnce = 200;
const endsAt = performance.now() + seconds * 1000;
const totals = new Map(chosen.map(({ name }) => [name, { taken: 0, refused: 0, findings: 0 }]));
for (let from = 0; performance.now() < endsAt; from += casesAtOnce) {
  for (const subject of chosen) {
    const report = await fuzz(subject, { seed, from, cases: casesAtOnce });
    const total = totals.get(subject.name)!;
    total.taken += report.taken;
    total.refused += report.refused;
    if (report.finding === undefined) continue;
    total.findings += 1;
    process.exitCode = 1;
    const { number, fault } = report.finding;
    console.error(`${subject.name}, case ${number}: ${fault.slice(0, 2000)}`);
    console.error(`written to ${writeFixture(into, report.finding)}`);
  }
  if (process.exitCode === 1) break;
}
console.table(Object.fromEntries(totals));
