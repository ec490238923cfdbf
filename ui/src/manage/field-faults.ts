/** Maps the problem of a failed call to form fields. Pure. */

export interface FieldFaults {
  /** Messages by field of the body, such as `limits.burstEvents` or `allowedCidrs.0`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Errors without a field; undefined = none. */
  readonly other: string | undefined;
}

/**
 * None without an error. An invalid body is reported as `cannot accept the body: name: …;
 * limits.burstEvents: …`, and the parameter is the first of them; for other errors the sentence
 * belongs to the parameter.
 */
export function toFieldFaults(error: Error | null): FieldFaults {
  if (error === null) return { fields: {}, other: undefined };
  const parameter = 'parameter' in error ? String(error.parameter) : '';
  const listed = /^cannot accept the body: (.*)$/s.exec(error.message)?.[1];
  if (listed === undefined) {
    return parameter === ''
      ? { fields: {}, other: error.message }
      : { fields: { [parameter]: error.message }, other: undefined };
  }
  const faults = listed.split('; ').map((text) => /^([\w.]+): (.*)$/s.exec(text) ?? ['', '', text]);
  const fields = Object.fromEntries(
    faults.flatMap(([, field = '', words = '']) => (field === '' ? [] : [[field, plain(words)]])),
  );
  const others = faults.flatMap(([, field = '', words = '']) => (field === '' ? [words] : []));
  return { fields, other: others.length === 0 ? undefined : others.join('; ') };
}

/** The validator's message for an empty text mentions types. */
function plain(words: string): string {
  return words.startsWith('too small: expected string to have >=1 ') ? 'cannot be empty' : words;
}

/** Faults of hidden fields are shown at the form. */
export function otherThan(faults: FieldFaults, shown: readonly string[]): string | undefined {
  const hidden = Object.entries(faults.fields).filter(
    ([field]) => !shown.some((name) => field === name || field.startsWith(`${name}.`)),
  );
  const words = hidden.map(([field, fault]) => `${field}: ${fault}`);
  if (faults.other !== undefined) words.unshift(faults.other);
  return words.length === 0 ? undefined : words.join('; ');
}
