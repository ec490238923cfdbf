/** The end of a process that cannot go on, so that its supervisor starts another. */

/** EX_IOERR of sysexits.h: a disk failed, and what it holds is unknown until it is read again. */
export const diskFailedExitCode = 74;

/** Time to answer requests under way with 503. */
const lastAnswersMs = 250;

/** Ends without the orderly stop, which would write to the disk that failed. */
export function endAfterDiskFailure(): void {
  setTimeout(() => process.exit(diskFailedExitCode), lastAnswersMs);
}
