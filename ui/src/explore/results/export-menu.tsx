/** Downloads all logs of the query. */
import { Menu } from '@base-ui/react/menu';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf } from '../../api/client.ts';
import { useApp, useScope } from '../../app/context.ts';
import { Icon } from '../../parts/controls/icon.tsx';
import menu from '../../parts/controls/menu.module.css';
import { countOf } from '../../parts/text/time-text.ts';
import { useToast } from '../../parts/feedback/toasts.tsx';
import { type ExploreQuery, type TimeBounds, toApiFilters } from '../query.ts';
import columns from './columns-menu.module.css';
import styles from './export-menu.module.css';

const formats = [
  { format: 'ndjson', title: 'NDJSON', about: 'one JSON object per line' },
  { format: 'csv', title: 'CSV', about: 'for a spreadsheet' },
] as const;
type Format = (typeof formats)[number]['format'];

export interface ExportMenuProps {
  readonly query: ExploreQuery;
  readonly bounds: TimeBounds;
}

export function ExportMenu({ query, bounds }: ExportMenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const total = useTotal(query, bounds, isOpen);
  const start = useDownload(query, bounds);
  return (
    <Menu.Root open={isOpen} onOpenChange={setIsOpen}>
      <Menu.Trigger className={columns.trigger}>
        <Icon name="download" /> <span className={columns.word}>Export</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={menu.positioner} align="end" sideOffset={4}>
          <Menu.Popup className={menu.popup}>
            <p className={styles.total}>
              {total === undefined
                ? 'All logs of this search and range'
                : `${countOf(total, 'log')} of this search and range`}
            </p>
            {formats.map(({ format, title, about }) => (
              <Menu.Item key={format} className={menu.item} onClick={() => void start(format)}>
                {title} <span className="quiet">{about}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Counted on demand; a token may lack the scope. */
function useTotal(query: ExploreQuery, bounds: TimeBounds, isWanted: boolean): number | undefined {
  const { api } = useApp();
  const mayCount = useScope('analytics:read');
  const filters = toApiFilters(query);
  const { data } = useQuery({
    queryKey: ['export-total', filters, bounds],
    enabled: isWanted && mayCount,
    queryFn: ({ signal }) => {
      const range = { startTime: bounds.sinceTime, endTime: bounds.untilTime, buckets: 1 };
      const params = { query: { ...filters, ...range } };
      return dataOf(api.GET('/api/v1/histogram', { params, signal }));
    },
  });
  return data?.total;
}

function useDownload(query: ExploreQuery, bounds: TimeBounds): (format: Format) => Promise<void> {
  const { api } = useApp();
  const toast = useToast();
  return async (format) => {
    try {
      const params = { query: { ...toApiFilters(query), ...bounds, format } };
      const { url } = await dataOf(api.POST('/api/v1/logs/export', { params }));
      const link = document.createElement('a');
      link.href = url;
      // The service sets the file name.
      link.download = '';
      link.click();
      toast('The download has started');
    } catch (error) {
      toast(`The export failed: ${(error as Error).message}`);
    }
  };
}
