/** The receiver of a sender with a client certificate. */
import { AppError } from '../model/errors.ts';

const receiverId = /^rcv_\w+$/;
const entry = /^(.+)=(\w+)$/;

/** @returns the receiver of the first name that has one */
export type ReceiverOfNames = (names: readonly string[]) => string | undefined;

/**
 * @param entries each `name=receiver`; a name that is a receiver's id needs none
 * @throws AppError `malformed` for another form
 */
export function createSenderReceivers(entries: readonly string[]): ReceiverOfNames {
  const receivers = new Map(
    entries.map((text) => {
      const [, name, receiver] = entry.exec(text) ?? [];
      if (name === undefined || receiver === undefined) {
        const form = 'write name=receiver in tls.clientReceivers';
        throw new AppError('malformed', `cannot use ${JSON.stringify(text)}: ${form}`);
      }
      return [name.toLowerCase(), receiver] as const;
    }),
  );
  return (names) => {
    const known = names.find((name) => receivers.has(name.toLowerCase()));
    if (known !== undefined) return receivers.get(known.toLowerCase());
    return names.find((name) => receiverId.test(name));
  };
}
