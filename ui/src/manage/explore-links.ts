/** Links to the data of a receiver or stream. Pure. */

/** Link to the logs of one stream. */
export function toStreamLogs(streamId: string): string {
  return `/explore/logs?streamId=${encodeURIComponent(streamId)}`;
}
