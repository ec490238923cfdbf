/** The builder: every change of it is a new text of the query. */
import { Button } from '../../parts/controls/button.tsx';
import { Select, type SelectProps } from '../../parts/controls/select.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { defaultQueryOf, type MetricFamily } from '../browse/metric-families.ts';
import type { Bounds, MetricQuery } from '../metric-query.ts';
import { useLabelNames } from '../metric-reads.ts';
import styles from './builder-form.module.css';
import { type BuiltQuery, combinations, isBuckets, plainQuery } from './built-query.ts';
import { FilterForm } from './filter-form.tsx';
import { MetricPicker } from './metric-picker.tsx';

export interface BuilderFormProps {
  /** undefined = an empty query. */
  readonly built: BuiltQuery | undefined;
  readonly families: readonly MetricFamily[];
  readonly bounds: Bounds;
  /** @param display how the chart must draw it; absent = as it is */
  readonly onChange: (built: BuiltQuery, display?: MetricQuery['display']) => void;
}

export function BuilderForm({ built = plainQuery, families, bounds, onChange }: BuilderFormProps) {
  const { metric, filters } = built;
  const names = useLabelNames(metric, bounds).data ?? [];
  const set = (part: Partial<BuiltQuery>, display?: MetricQuery['display']) =>
    onChange({ ...built, ...part }, display);
  const family = families.find((one) => one.metric === metric);
  return (
    <div className={styles.form}>
      <MetricPicker
        families={families}
        value={metric}
        onChange={(next) => {
          const { type } = families.find((one) => one.metric === next) ?? {};
          onChange(defaultQueryOf(next, type), 'lines');
        }}
      />
      {metric !== '' && (
        <>
          <Calculations built={built} family={family} onChange={set} />
          {built.combine !== undefined && (
            <Grouping by={built.by} names={names} onChange={(by) => set({ by })} />
          )}
          <FilterForm
            metric={metric}
            names={names}
            bounds={bounds}
            onAdd={(filter) => set({ filters: [...filters, filter] })}
          />
        </>
      )}
      <FilterChips filters={filters} onChange={(next) => set({ filters: next })} />
    </div>
  );
}

interface PartProps {
  readonly built: BuiltQuery;
  readonly family: MetricFamily | undefined;
  readonly onChange: (part: Partial<BuiltQuery>, display?: MetricQuery['display']) => void;
}

const windows = ['1m', '5m', '15m', '30m', '1h', '6h', '1d'];
const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
const heatMap = 'heat map';
const tops = ['topk 5', 'topk 10', 'topk 20', 'bottomk 10'];

function Calculations({ built, family, onChange }: PartProps) {
  const { calculation, window, quantile, combine, top } = built;
  const shownTop = top === undefined ? '' : `${top.order} ${top.count}`;
  const canQuantile =
    isBuckets(built.metric) || family?.type === 'histogram' || quantile !== undefined;
  return (
    <>
      <Choice
        label="Show"
        value={calculation}
        choices={[
          ['value', 'values'],
          ['rate', 'rate per second'],
          ['increase', 'increase'],
        ]}
        onChange={(next) => onChange({ calculation: next })}
      />
      {calculation !== 'value' && (
        <Choice
          label="Over"
          value={window}
          choices={withShown(windows, window)}
          onChange={(next) => onChange({ window: next })}
        />
      )}
      {canQuantile && (
        <Choice
          label="Quantile"
          value={String(quantile ?? '')}
          choices={[
            ['', 'none'],
            ...withShown(quantiles.map(String), String(quantile ?? 0.5)).map(
              (one) => [one, `p${Number((Number(one) * 100).toFixed(4))}`] as const,
            ),
            heatMap,
          ]}
          onChange={(next) => {
            if (next === heatMap) onChange(toBuckets(built), 'heat');
            else onChange({ quantile: next === '' ? undefined : Number(next) }, 'lines');
          }}
        />
      )}
      <Choice
        label="Combine"
        value={combine ?? ''}
        choices={[['', 'each series'], ...combinations]}
        onChange={(next) => onChange({ combine: next === '' ? undefined : next })}
      />
      <Choice
        label="Series"
        value={shownTop}
        choices={[
          ['', 'all'],
          ...withShown(tops, shownTop || tops[0]!).map((one) => [one, topWords(one)] as const),
        ]}
        onChange={(next) => {
          const [order, count] = next.split(' ');
          onChange({
            top:
              order === 'topk' || order === 'bottomk' ? { order, count: Number(count) } : undefined,
          });
        }}
      />
    </>
  );
}

/** All buckets over time: what a heat map draws. */
function toBuckets({ metric }: BuiltQuery): Partial<BuiltQuery> {
  const by = isBuckets(metric) ? ['le'] : [];
  return { calculation: 'increase', quantile: undefined, combine: 'sum', by, top: undefined };
}

function topWords(text: string): string {
  const [order, count = ''] = text.split(' ');
  return `${order === 'topk' ? 'top' : 'bottom'} ${count}`;
}

function withShown(options: readonly string[], shown: string): readonly string[] {
  return options.includes(shown) ? options : [...options, shown];
}

function Choice<Value extends string>(props: SelectProps<Value>) {
  return (
    <label className={styles.field}>
      {props.label}
      <Select {...props} />
    </label>
  );
}

interface GroupingProps {
  readonly by: readonly string[];
  readonly names: readonly string[];
  readonly onChange: (by: readonly string[]) => void;
}

function Grouping({ by, names, onChange }: GroupingProps) {
  return (
    <div className={styles.grouping}>
      <Choice
        label="By"
        value=""
        choices={[
          ['', by.length === 0 ? 'nothing' : 'add a label'],
          ...names.filter((name) => !by.includes(name)),
        ]}
        onChange={(name) => name !== '' && onChange([...by, name])}
      />
      {by.map((name) => (
        <Chip
          key={name}
          text={name}
          removal={`No longer by ${name}`}
          onRemove={() => onChange(by.filter((one) => one !== name))}
        />
      ))}
    </div>
  );
}

interface FilterChipsProps {
  readonly filters: BuiltQuery['filters'];
  readonly onChange: (filters: BuiltQuery['filters']) => void;
}

function FilterChips({ filters, onChange }: FilterChipsProps) {
  if (filters.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters by label">
      {filters.map((filter) => {
        const text = `${filter.name}${filter.op}"${filter.value}"`;
        return (
          <li key={text}>
            <Chip
              text={text}
              removal={`Remove ${text}`}
              onRemove={() => onChange(filters.filter((one) => one !== filter))}
            />
          </li>
        );
      })}
    </ul>
  );
}

function Chip({
  text,
  removal,
  onRemove,
}: {
  text: string;
  removal: string;
  onRemove: () => void;
}) {
  return (
    <span className={styles.chip}>
      <LogText text={text} />
      <Button tone="bare" label={removal} onPress={onRemove}>
        <Icon name="close" />
      </Button>
    </span>
  );
}
