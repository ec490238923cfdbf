/** What a form changed. Pure. */

export type Changes<Fields> = {
  readonly [Name in keyof Fields]?: Fields[Name] extends readonly unknown[]
    ? Fields[Name]
    : Fields[Name] extends object
      ? Changes<Fields[Name]>
      : Fields[Name];
};

/**
 * Fields that differ, within objects as well: two people may edit different ones at once, and the
 * service may no longer accept a value that a field already has.
 * @returns undefined = none, which the service would refuse
 */
export function changedFields<Fields extends object>(
  before: Fields,
  after: Fields,
): Changes<Fields> | undefined {
  const changes: Partial<Record<keyof Fields, unknown>> = {};
  for (const name of Object.keys(after) as (keyof Fields)[]) {
    const [old, now] = [before[name], after[name]];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    const change = isObject(old) && isObject(now) ? changedFields(old, now) : now;
    if (change !== undefined) changes[name] = change;
  }
  return Object.keys(changes).length === 0 ? undefined : (changes as Changes<Fields>);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
