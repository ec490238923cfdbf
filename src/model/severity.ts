/**
 * Severity words and their OpenTelemetry numbers
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model, "Severity Fields" and appendix B).
 */

/** Each has four numbers: TRACE 1 to 4, DEBUG 5 to 8, and so on. */
export const severityLevels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const;

/** The lowest number of a level. @param index in `severityLevels` */
export function firstNumber(index: number): number {
  return index * 4 + 1;
}

export const severityNumbers: ReadonlyMap<string, number> = new Map([
  ...severityLevels.flatMap((word, i): [string, number][] => [
    [word, firstNumber(i)],
    [`${word}2`, firstNumber(i) + 1],
    [`${word}3`, firstNumber(i) + 2],
    [`${word}4`, firstNumber(i) + 3],
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

/** Severities of syslog (RFC 5424 §6.2.1) by their number, which journald and GELF send. */
const syslogWords = ['EMERG', 'ALERT', 'CRIT', 'ERR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'];

/** @param digits as sent. @returns the word, or the text itself if syslog has no such number */
export function toSyslogWord(digits: string): string {
  return /^[0-7]$/.test(digits) ? syslogWords[Number(digits)]! : digits.toUpperCase();
}

/** @returns the numbers of a level, none for another word */
export function levelNumbers(level: string): readonly number[] {
  const index = severityLevels.findIndex((one) => one === level);
  return index < 0 ? [] : [0, 1, 2, 3].map((step) => firstNumber(index) + step);
}

/** The level of a word in any case; an unknown word in upper case. */
export function toSeverityLevel(word: string): string {
  const upper = word.toUpperCase();
  return severityLevels[Math.floor((toSeverityNumber(upper) - 1) / 4)] ?? upper;
}

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

/** @param text a word in any case, or a number from 1 to 24 */
export function parseSeverityNumber(text: string): number | undefined {
  const number = /^\d\d?$/.test(text) ? Number(text) : toSeverityNumber(text.toUpperCase());
  return number >= 1 && number <= 24 ? number : undefined;
}
