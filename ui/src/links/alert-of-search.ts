/** Link from a search of logs to a new rule that counts what it finds. Pure. */

/** @param query in the query language of logs */
export function toAlertOfSearch(query: string): string {
  return `/alerts/edit?${new URLSearchParams({ query }).toString()}`;
}
