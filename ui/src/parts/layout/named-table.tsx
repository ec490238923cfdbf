/** Table of things with names, of which there may be thousands: found by name, shown in pages. */
import { useState } from 'react';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/fields.tsx';
import { formatCount } from '../text/time-text.ts';
import { DataTable, type DataTableProps } from './data-table.tsx';

/** Rows may request more of each thing. */
const pageLength = 50;

export function NamedTable<Row extends { readonly name: string }>(props: DataTableProps<Row>) {
  const { rows } = props;
  const [search, setSearch] = useState('');
  const [length, setLength] = useState(pageLength);
  const isLong = rows.length > pageLength;
  const wanted = isLong ? search.trim().toLowerCase() : '';
  const found = rows.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <>
      {isLong && <TextField label="Find by name" value={search} onChange={setSearch} />}
      <DataTable {...props} rows={found.slice(0, length)} />
      {found.length > length && (
        <div>
          <Button onPress={() => setLength(length + pageLength)}>
            Show more of {formatCount(found.length)}
          </Button>
        </div>
      )}
      {found.length === 0 && <p className="quiet">No name contains this text.</p>}
    </>
  );
}
