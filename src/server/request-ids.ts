/** Names requests, so that an answer and the log can speak of the same one. */
import { randomBytes } from 'node:crypto';

/** @returns makes ids that are short and unique across surfaces and runs */
export function createRequestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let requests = 0;
  return () => `${run}-${(requests++).toString(36)}`;
}
