/**
 * Severity words and their OpenTelemetry numbers
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model, "Severity Fields" and appendix B).
 */

export const severityNumbers: ReadonlyMap<string, number> = new Map([
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((word, i): [string, number][] => [
    [word, i * 4 + 1],
    [`${word}2`, i * 4 + 2],
    [`${word}3`, i * 4 + 3],
    [`${word}4`, i * 4 + 4],
  ]),
  ['VERBOSE', 1],
  ['DBG', 5],
  ['INFORMATION', 9],
  ['INFORMATIONAL', 9],
  ['NOTICE', 10],
  ['WARNING', 13],
  ['ERR', 17],
  ['SEVERE', 17],
  ['CRITICAL', 18],
  ['CRIT', 18],
  ['ALERT', 19],
  ['EMERGENCY', 21],
  ['EMERG', 21],
  ['PANIC', 21],
]);

/** pino's and bunyan's numeric levels. */
const wordsByPinoLevel: ReadonlyMap<string, string> = new Map([
  ['10', 'TRACE'],
  ['20', 'DEBUG'],
  ['30', 'INFO'],
  ['40', 'WARN'],
  ['50', 'ERROR'],
  ['60', 'FATAL'],
]);

/** @param word in upper case. @returns 1 to 24, or 0 for an unknown word. */
export function toSeverityNumber(word: string): number {
  return severityNumbers.get(word) ?? 0;
}

/**
 * @param level decimal digits as sent. @returns the word, or the digits if pino has no name for
 * them.
 */
export function toSeverityWord(level: string): string {
  return wordsByPinoLevel.get(level) ?? level;
}
