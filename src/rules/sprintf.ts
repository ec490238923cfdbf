/** Numbers and texts in Go's forms. */

/** Go's `%v` of a float64. @param exponentFrom digits from which the exponent is written */
export function formatGo(value: number, exponentFrom = 6): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < exponentFrom) return plain(value);
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

function plain(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return String(value).includes('e') ? value.toFixed(7).replace(/0+$/, '') : String(value);
}

const verb = /%([-+0 #]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g;

/** The verbs v, s, q, d, f, e, g, x with flags, width and precision. */
export function sprintf(form: string, values: readonly (string | number)[]): string {
  let at = 0;
  return form.replace(verb, (_whole, flags: string, width: string, digits, letter: string) => {
    if (letter === '%') return '%';
    if (at >= values.length) return `%!${letter}(MISSING)`;
    const value = values[at++]!;
    const precision = digits === undefined ? undefined : Math.min(Number(digits), 100);
    const text = formatVerb(letter, value, precision) ?? `%!${letter}(${String(value)})`;
    const signed = flags.includes('+') && Number(value) >= 0 ? `+${text}` : text;
    const wanted = Math.min(Number(width || 0), 1000);
    if (flags.includes('-')) return signed.padEnd(wanted);
    if (!flags.includes('0') || !/\d/.test(signed)) return signed.padStart(wanted);
    // Zeros are between the sign and the digits.
    const [sign = ''] = /^[+-]?/.exec(signed) ?? [];
    return sign + signed.slice(sign.length).padStart(wanted - sign.length, '0');
  });
}

/** Go counts code points. */
function cutTo(text: string, length: number | undefined): string {
  return length === undefined ? text : Array.from(text).slice(0, length).join('');
}

function formatVerb(
  letter: string,
  value: string | number,
  precision: number | undefined,
): string | undefined {
  const text = typeof value === 'number' ? formatGo(value) : value;
  if (letter === 'v') return text;
  if (letter === 's') return cutTo(text, precision);
  if (letter === 'q') return JSON.stringify(text);
  const number = Number(value);
  if (!Number.isFinite(number)) return formatGo(number);
  switch (letter) {
    case 'd':
      return String(Math.trunc(number));
    case 'f':
    case 'F':
      return number.toFixed(precision ?? 6);
    case 'e':
      return number.toExponential(precision ?? 6).replace(/e([+-])(\d)$/, 'e$10$2');
    case 'g':
      return precision === undefined
        ? text
        : formatGo(Number(number.toPrecision(Math.max(precision, 1))), Math.max(precision, 1));
    case 'x':
      return Math.trunc(number).toString(16);
    default:
      return undefined;
  }
}
