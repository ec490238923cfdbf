/** The end of a process that cannot go on, so that its supervisor starts another. */

/** EX_IOERR of sysexits.h: a disk failed, and what it holds is unknown until it is read again. */
export const diskFailedExitCode = 74;

/**
 * Ends at once. Requests under way get no answer: whether their batches are on disk is unknown, and
 * a 503 would tell the sender that they are not. The orderly stop would write to the failed disk.
 */
export function endAfterDiskFailure(): never {
  process.exit(diskFailedExitCode);
}
