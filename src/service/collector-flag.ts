/** How Node's garbage collector is set up in every process that takes events in. */

/**
 * Counts buffers outside the heap as part of it. By default every few dozen megabytes of request
 * bodies that come and go start a full collection of a heap that hardly changes: a third of the
 * gateway's processor time under load.
 */
export const collectorFlag = '--external-memory-accounted-in-global-limit';
