/** Addresses of the pages that show what was received. Pure. */

/** Logs of one stream, as the page of logs reads them from its address. */
export function toStreamLogs(streamId: string): string {
  return `/explore/logs?streamId=${encodeURIComponent(streamId)}`;
}
