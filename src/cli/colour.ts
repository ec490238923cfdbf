/**
 * Whether text is coloured, by what people agreed on: https://no-color.org, https://force-color.org
 * and `TERM=dumb`. Pure.
 */
import { styleText } from 'node:util';
import type { Style } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** @param isTty whether the text goes to a terminal. */
export function createStyle(environment: Environment, isTty: boolean): Style {
  if (!hasColours(environment, isTty)) return (_format, text) => text;
  return (format, text) => {
    if (text === '') return '';
    // A check of its own would look at the process, not at this environment.
    const options = { validateStream: false };
    return styleText(typeof format === 'string' ? format : [...format], text, options);
  };
}

function hasColours(environment: Environment, isTty: boolean): boolean {
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTty && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}
