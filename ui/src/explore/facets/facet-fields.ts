/** Fields of the sidebar and their values. Pure. */
import { fieldEntries } from '../../../../src/model/log-fields.ts';
import type { Facet } from '../../api/models.ts';
import { type Filter, isSameValue } from '../terms.ts';

export interface FacetField {
  readonly field: string;
  /** Name in the facets API. */
  readonly name: Facet['field'];
}

export const facetFields: readonly FacetField[] = fieldEntries.flatMap(([field, { filter }]) => {
  const [name] = filter?.facets ?? [];
  return name === undefined ? [] : [{ field, name }];
});

export interface FacetRow {
  readonly value: string;
  readonly count: number;
  readonly state: 'plain' | 'included' | 'excluded';
}

/** The counted values, then filtered ones that were not counted. */
export function facetRows(
  facet: Pick<Facet, 'values'>,
  field: string,
  filters: readonly Filter[],
): FacetRow[] {
  const own = filters.filter((filter) => filter.field === field);
  const sameAs = (left: string, right: string) => isSameValue(field, left, right);
  const stateOf = (value: string): FacetRow['state'] => {
    const filter = own.find((one) => sameAs(one.value, value));
    if (filter === undefined) return 'plain';
    return filter.isExcluded ? 'excluded' : 'included';
  };
  const counted = facet.values.map((one) => ({ ...one, state: stateOf(one.value) }));
  const absent = own
    .filter(({ value }) => !facet.values.some((one) => sameAs(one.value, value)))
    .map(({ value }) => ({ value, count: 0, state: stateOf(value) }));
  return [...counted, ...absent];
}

/** Whether the field has any value or filter. */
export function isTelling(rows: readonly FacetRow[]): boolean {
  return rows.some(({ value, state }) => value !== '' || state !== 'plain');
}
