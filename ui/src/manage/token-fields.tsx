/** Name and expiry of a new token. */
import { useState } from 'react';
import { FieldRow, TextField } from '../parts/controls/fields.tsx';
import type { FieldFaults } from './field-faults.ts';
import { toExpiry } from './token-state.ts';

export interface TokenDraft {
  readonly name: string;
  readonly setName: (name: string) => void;
  readonly days: string;
  readonly setDays: (days: string) => void;
  readonly daysFault: string | undefined;
  /** @returns the time of expiry, null for never, or undefined: then the field says why */
  readonly readExpiry: () => string | null | undefined;
}

export function useTokenDraft(firstName: string): TokenDraft {
  const [name, setName] = useState(firstName);
  const [days, setDays] = useState('');
  const [daysFault, setDaysFault] = useState<string>();
  const readExpiry = () => {
    const expiresAt = toExpiry(days, Date.now());
    setDaysFault(expiresAt === undefined ? notDays : undefined);
    return expiresAt;
  };
  return { name, setName, days, setDays, daysFault, readExpiry };
}

const notDays = 'Enter a whole number of days, or leave it empty for never.';

export interface TokenFieldsProps {
  readonly draft: TokenDraft;
  readonly faults: FieldFaults;
  readonly nameHint: string;
}

export function TokenFields({ draft, faults, nameHint }: TokenFieldsProps) {
  return (
    <FieldRow>
      <TextField
        label="Name"
        isFirst
        value={draft.name}
        onChange={draft.setName}
        fault={faults.fields['name']}
        hint={nameHint}
      />
      <TextField
        label="Expires after days"
        inputMode="numeric"
        value={draft.days}
        onChange={draft.setDays}
        placeholder="never"
        fault={draft.daysFault ?? faults.fields['expiresAt']}
        hint="Empty: never expires."
      />
    </FieldRow>
  );
}
