/** Labels of series from the attributes of resources, scopes and data points. */
import type { Label } from '../../../model/metric-plan.ts';
import { compareUtf8 } from '../../../codec/series-labels.ts';
import { type NameRules, toLabelName } from './metric-names.ts';

/** Attributes that identify a resource; they become `job` and `instance`. */
const identity = {
  name: 'service.name',
  namespace: 'service.namespace',
  instance: 'service.instance.id',
} as const;
const identifying: ReadonlySet<string> = new Set(Object.values(identity));
/** The name of the metric is no attribute. */
const reserved = '__name__';

export interface LabelRules extends NameRules {
  /** Attributes of the resource that become labels of every series. */
  readonly promoted: ReadonlySet<string>;
  /** Whether name, version and attributes of the scope become labels `otel_scope_…`. */
  readonly hasScopeLabels: boolean;
}

export interface ResourceLabels {
  /** `job` and `instance`. */
  readonly identity: readonly Label[];
  readonly promoted: readonly Label[];
  /** Labels of `target_info`; undefined if it would tell nothing. */
  readonly target: readonly Label[] | undefined;
}

/** @returns undefined if no label can have the name of an attribute */
export function toResourceLabels(
  attributes: readonly Label[],
  rules: LabelRules,
): ResourceLabels | undefined {
  const values = new Map(attributes);
  const name = values.get(identity.name) ?? '';
  const namespace = values.get(identity.namespace) ?? '';
  const job = name !== '' && namespace !== '' ? `${namespace}/${name}` : name;
  const own: Label[] = [
    ['job', job],
    ['instance', values.get(identity.instance) ?? ''],
  ];
  const labels = own.filter(([, value]) => value !== '');
  const promoted = attributes.filter(([key]) => rules.promoted.has(key));
  const promotedLabels = joinAttributes(promoted, rules);
  const others = attributes.filter(([key]) => !identifying.has(key));
  const targetLabels = joinAttributes(others, rules);
  if (promotedLabels === undefined || targetLabels === undefined) return undefined;
  const target = override(targetLabels, labels);
  const isJoinable = target.some(
    ([key, value]) => (key === 'job' || key === 'instance') && value !== '',
  );
  return {
    identity: labels,
    promoted: [...promotedLabels],
    target: others.length > 0 && isJoinable ? target : undefined,
  };
}

interface Scope {
  readonly name: string;
  readonly version: string;
  readonly schemaUrl: string;
  readonly attributes: readonly Label[];
}

/** @returns undefined if no label can have the name of an attribute */
export function toScopeLabels(scope: Scope, rules: LabelRules): readonly Label[] | undefined {
  if (!rules.hasScopeLabels || scope.name === '') return [];
  const attributes = scope.attributes.map(([key, value]): Label => [`otel_scope_${key}`, value]);
  const labels = joinAttributes(attributes, rules);
  if (labels === undefined) return undefined;
  return override(labels, [
    ['otel_scope_name', scope.name],
    ['otel_scope_version', scope.version],
    ['otel_scope_schema_url', scope.schemaUrl],
  ]);
}

/**
 * The labels of a data point. The label of a resource yields to an attribute of the point; `job`,
 * `instance` and those of the scope do not.
 */
export function toPointLabels(
  attributes: readonly Label[],
  { resource, scope }: { readonly resource: ResourceLabels; readonly scope: readonly Label[] },
  rules: NameRules,
): Label[] | undefined {
  const labels = joinAttributes(attributes, rules);
  if (labels === undefined) return undefined;
  for (const [name, value] of resource.promoted) {
    if ((labels.get(name) ?? '') === '') labels.set(name, value);
  }
  return override(labels, [...resource.identity, ...scope]);
}

/**
 * Attributes whose keys become one label are joined in order of their keys.
 * @returns undefined if no label can have the name of an attribute
 */
function joinAttributes(
  attributes: readonly Label[],
  rules: NameRules,
): Map<string, string> | undefined {
  const labels = new Map<string, string>();
  for (const [key, value] of attributes.toSorted(([a], [b]) => compareUtf8(a, b))) {
    if (key === reserved) continue;
    const name = toLabelName(key, rules);
    if (name === undefined) return undefined;
    const former = labels.get(name) ?? '';
    labels.set(name, former === '' ? value : `${former};${value}`);
  }
  return labels;
}

function override(labels: Map<string, string>, others: readonly Label[]): Label[] {
  for (const [name, value] of others) labels.set(name, value);
  return [...labels];
}
