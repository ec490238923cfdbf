/**
 * Feeds a subject inputs, each a pure function of seed and number, until one breaks a rule; then
 * minimises it.
 */
import assert from 'node:assert/strict';
import { AppError } from '../../src/model/errors.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { oneIn } from './log-requests.ts';
import { damageBytes } from './damage-bytes.ts';
import type { Subject } from './subject.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Number of the first case. */
  readonly from?: number;
  readonly cases: number;
}

/** Inputs that break a rule when fed to a new decoder in this order. */
export interface Finding {
  readonly subject: string;
  readonly seed: number;
  readonly number: number;
  readonly fault: string;
  readonly inputs: readonly Buffer[];
}

export interface FuzzReport {
  readonly taken: number;
  readonly refused: number;
  readonly finding: Finding | undefined;
}

const records = 12;
/** More than one slice of any decoder. */
const manyRecords = 12_000;
/** Not drawn, so that every seed has as many valid inputs. */
const validEvery = 7;
const largeEvery = 400;
const freshEvery = 16;
/** Inputs that may have left state in the decoder. */
const trailLength = 64;

export async function fuzz(subject: Subject, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, from = 0, cases } = options;
  const decoder = subject.open();
  const trail: Buffer[] = [];
  let taken = 0;
  let refused = 0;
  for (let number = from; number < from + cases; number += 1) {
    const { input, isValid } = createCase(subject, seed, number);
    trail.push(input);
    if (trail.length > trailLength) trail.shift();
    try {
      const outcome = await decoder.feed(input);
      if (number % freshEvery === 0) await checkAgainstFresh(subject, input, outcome);
      if (number % largeEvery === 0) await checkInTurns(subject, decoder, seed + number);
      const isRefused = outcome instanceof AppError;
      // The account may reach its limit of series with any input.
      const isExpected = isRefused && outcome.code === 'quota_exceeded';
      if (isValid && isRefused && !isExpected) assert.fail(`valid, but: ${outcome.message}`);
      if (isRefused) refused += 1;
      else taken += 1;
    } catch (error) {
      const inputs = await shrink(subject, trail);
      const fault = String(error);
      return { taken, refused, finding: { subject: subject.name, seed, number, fault, inputs } };
    }
  }
  return { taken, refused, finding: undefined };
}

/** Feeds inputs to a new decoder. @throws the violation */
export async function replay(subject: Subject, inputs: readonly Buffer[]): Promise<void> {
  const decoder = subject.open();
  for (const input of inputs) {
    const outcome = await decoder.feed(input);
    await checkAgainstFresh(subject, input, outcome);
  }
}

/** A pure function of its arguments. */
export function createCase(subject: Subject, seed: number, number: number) {
  const random = createRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + number * 7919);
  const wrap = (bytes: Buffer) => subject.wrap?.(random, bytes) ?? bytes;
  const isValid = number % validEvery === 0;
  let input = subject.create(random, records);
  if (isValid) return { input: wrap(input), isValid };
  const damages = random.pick([1, 1, 1, 2, 3, 6]);
  for (let damage = 0; damage < damages; damage += 1) {
    input = subject.damage(random, input, subject.create(random, records));
  }
  input = wrap(input);
  if (subject.wrap !== undefined && oneIn(random, 6)) input = damageBytes(random, input, input);
  return { input, isValid };
}

/** State of the decoder must not change the result. */
async function checkAgainstFresh(subject: Subject, input: Buffer, outcome: unknown): Promise<void> {
  assert.deepEqual(toPlain(await subject.open().feed(input)), toPlain(outcome), 'a new decoder');
}

/** Large concurrent inputs give the same results as sequential ones. */
async function checkInTurns(
  subject: Subject,
  decoder: ReturnType<Subject['open']>,
  seed: number,
): Promise<void> {
  const random = createRandom(seed);
  const inputs = Array.from({ length: 3 }, (_, index) => largeInput(subject, random, index > 0));
  const together = await Promise.all(inputs.map((input) => decoder.feed(input)));
  for (const [index, input] of inputs.entries()) {
    await checkAgainstFresh(subject, input, together[index]);
  }
}

function largeInput(subject: Subject, random: Random, isDamaged: boolean): Buffer {
  const valid = subject.create(random, manyRecords);
  const input = isDamaged ? subject.damage(random, valid, valid) : valid;
  return subject.wrap?.(random, input) ?? input;
}

function toPlain(outcome: unknown): unknown {
  return outcome instanceof AppError ? [outcome.code, outcome.message] : outcome;
}

/** Maximum of attempts, since each opens a decoder. */
const shrinkTries = 200;

async function shrink(subject: Subject, trail: readonly Buffer[]): Promise<readonly Buffer[]> {
  let tries = 0;
  const breaks = async (inputs: readonly Buffer[]) => {
    tries += 1;
    return replay(subject, inputs).then(
      () => false,
      () => true,
    );
  };
  let inputs = [trail.at(-1)!];
  while (inputs.length < trail.length && !(await breaks(inputs))) {
    inputs = trail.slice(-2 * inputs.length);
  }
  let last = inputs.at(-1)!;
  for (let part = last.length >> 1; part > 0; part >>= 1) {
    for (let start = 0; start < last.length; ) {
      if (tries > shrinkTries) return [...inputs.slice(0, -1), last];
      const less = Buffer.concat([last.subarray(0, start), last.subarray(start + part)]);
      if (await breaks([...inputs.slice(0, -1), less])) last = less;
      else start += part;
    }
  }
  return [...inputs.slice(0, -1), last];
}
