/** All floods, in order. */
import type { Attack } from './attack.ts';
import { answers } from './attacks/answers.ts';
import { bodies } from './attacks/bodies.ts';
import { connecting } from './attacks/connecting.ts';
import { controlFrames } from './attacks/control-frames.ts';
import { resets } from './attacks/resets.ts';

export const attacks: readonly Attack[] = [
  ...resets,
  ...controlFrames,
  ...bodies,
  ...answers,
  ...connecting,
];
