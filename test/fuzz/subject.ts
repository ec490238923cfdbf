/** What is fuzzed: a decoder, and how its inputs are made. */
import type { Random } from '../harness/random.ts';
import { damageBytes } from './damage-bytes.ts';
import { damageProtobuf } from './damage-protobuf.ts';
import { damageText, type Words } from './damage-text.ts';
import { oneIn } from './log-requests.ts';
import type { Outcome, Trial } from './protocol-trial.ts';

/** A decoder and its input generators. */
export interface Subject<Result = unknown> {
  readonly name: string;
  /** A valid input. @param records approximate maximum of records */
  create(random: Random, records: number): Buffer;
  /** @param other a valid input, to splice from */
  damage(random: Random, input: Buffer, other: Buffer): Buffer;
  /** Encodes inputs for transport; the result may be damaged too. */
  wrap?(random: Random, input: Buffer): Buffer;
  /** It refuses nothing. */
  readonly takesAnything?: boolean;
  /** A new decoder without state. */
  open(): { feed(input: Buffer): Promise<Result> };
}

export interface BatchSubject extends Subject<Outcome> {
  open(): Trial;
}

export type Making = Pick<Subject, 'create' | 'damage' | 'wrap' | 'takesAnything'>;

export const ofText = (words: Words, create: Making['create']): Making => ({
  create,
  damage: (random, input, other) =>
    oneIn(random, 3) ? damageBytes(random, input, other) : damageText(random, input, other, words),
});

export const ofProtobuf = (create: Making['create']): Making => ({
  create,
  damage: (random, input, other) =>
    oneIn(random, 3) ? damageBytes(random, input, other) : damageProtobuf(random, input, other),
});
