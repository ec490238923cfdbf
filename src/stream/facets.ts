/** The facets: each field under the name it was asked by. Pure. */
import { facetFields, type FacetName } from '../model/log-fields.ts';
import type { FacetsResult } from '../model/plan.ts';
import type { FacetResponse } from './responses.ts';

/** One answer a name, in the order asked; two names of one field get the same counts. */
export function toFacetResponses(
  names: readonly FacetName[],
  results: readonly FacetsResult[],
): FacetResponse[] {
  return names.map((name) => {
    const result = results.find(({ field }) => field === facetFields.get(name))!;
    const { values, other, total } = result;
    return { field: name, values: [...values], other, total };
  });
}
