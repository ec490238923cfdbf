/** Numbers that JetStream gives its errors (nats-server, server/errors.json). */
export const errorCodes = {
  /** Too few servers, or not seen yet. */
  noPeers: 10005,
  nameInUse: 10058,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  /** A stream of work has a consumer already: without a filter, and with one. */
  workIsConsumed: 10099,
  workIsConsumedFiltered: 10100,
  subjectOverlap: 10065,
  wrongLastSequence: 10071,
  /** As newer servers say it of a create. */
  wrongLastSequenceConstant: 10164,
  replicasNotSupported: 10074,
  insufficientResources: 10023,
  storageExceeded: 10047,
  memoryExceeded: 10028,
  /** The stream is at max_bytes, or its disk fails. */
  storeFailed: 10077,
} as const;
