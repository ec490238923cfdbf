/** Receiver form: input and API fields. Pure. */
import type { Receiver } from '../api/models.ts';
import type { ReceiverKind } from '../manage/kind-words.ts';

export interface ReceiverDraft {
  readonly name: string;
  readonly kind: ReceiverKind;
  /** Empty = a new stream, named `newStreamName`. */
  readonly streamId: string;
  readonly newStreamName: string;
  readonly isActive: boolean;
  /** One range per line. */
  readonly cidrs: string;
  /** Empty = unlimited, or the default. */
  readonly eventsPerSecond: string;
  readonly burstEvents: string;
  readonly maxBodyBytes: string;
}

export type DraftFaults = Partial<Record<keyof ReceiverDraft, string>>;

export interface ReceiverFields {
  readonly name: string;
  readonly active: boolean;
  readonly allowedCidrs: string[];
  readonly limits: {
    readonly eventsPerSecond: number | null;
    readonly burstEvents: number | null;
    readonly maxBodyBytes: number | null;
  };
}

export function newDraft(streamId: string): ReceiverDraft {
  return {
    name: '',
    kind: 'http_json',
    streamId,
    newStreamName: '',
    isActive: true,
    cidrs: '',
    eventsPerSecond: '',
    burstEvents: '',
    maxBodyBytes: '',
  };
}

export function toDraft(receiver: Receiver): ReceiverDraft {
  const { name, kind, streamId, active, allowedCidrs, limits } = receiver;
  return {
    name,
    kind,
    streamId,
    newStreamName: '',
    isActive: active,
    cidrs: allowedCidrs.join('\n'),
    eventsPerSecond: limits.eventsPerSecond?.toString() ?? '',
    burstEvents: limits.burstEvents?.toString() ?? '',
    maxBodyBytes: limits.maxBodyBytes?.toString() ?? '',
  };
}

/** @returns fields for the API, or errors */
export function toFields(draft: ReceiverDraft): ReceiverFields | DraftFaults {
  const eventsPerSecond = toAmount(draft.eventsPerSecond, counts);
  const burstEvents = toAmount(draft.burstEvents, counts);
  const maxBodyBytes = toAmount(draft.maxBodyBytes, bytes);
  if (eventsPerSecond === undefined || burstEvents === undefined || maxBodyBytes === undefined) {
    return {
      ...(eventsPerSecond === undefined && { eventsPerSecond: notCount }),
      ...(burstEvents === undefined && { burstEvents: notCount }),
      ...(maxBodyBytes === undefined && { maxBodyBytes: notBytes }),
    };
  }
  return {
    name: draft.name,
    active: draft.isActive,
    allowedCidrs: toCidrs(draft.cidrs),
    limits: { eventsPerSecond, burstEvents, maxBodyBytes },
  };
}

export function isFields(value: ReceiverFields | DraftFaults): value is ReceiverFields {
  return 'limits' in value;
}

const fieldNames: Readonly<Record<string, keyof ReceiverDraft>> = {
  name: 'name',
  kind: 'kind',
  streamId: 'streamId',
  active: 'isActive',
  'limits.eventsPerSecond': 'eventsPerSecond',
  'limits.burstEvents': 'burstEvents',
  'limits.maxBodyBytes': 'maxBodyBytes',
};

/** API fields whose errors are shown at an input. */
export const shownFields: readonly string[] = [...Object.keys(fieldNames), 'allowedCidrs'];

/** @param fields messages by API field */
export function toDraftFaults(
  fields: Readonly<Record<string, string>>,
  draft: ReceiverDraft,
): DraftFaults {
  const faults: Partial<Record<keyof ReceiverDraft, string>> = {};
  const cidrs = toCidrs(draft.cidrs);
  for (const [field, words] of Object.entries(fields)) {
    const index = /^allowedCidrs\.(\d+)$/.exec(field)?.[1];
    const wrong = index === undefined ? undefined : cidrs[Number(index)];
    const name = field.startsWith('allowedCidrs') ? 'cidrs' : fieldNames[field];
    if (name === undefined) continue;
    const text = wrong === undefined ? words : `“${wrong}” ${words}`;
    faults[name] = faults[name] === undefined ? text : `${faults[name]}; ${text}`;
  }
  return faults;
}

function toCidrs(text: string): string[] {
  return text.split(/[\s,;]+/).filter((range) => range !== '');
}

const notCount = 'Enter a whole number, or leave it empty.';
const notBytes =
  'Enter an amount in bytes, kB, MB, KiB or MiB, such as “512 KiB”, or leave it empty.';
const counts: Readonly<Record<string, number>> = { '': 1 };
const bytes: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1000,
  mb: 1_000_000,
  kib: 1024,
  mib: 1_048_576,
};

/** @returns null for empty input, undefined for an invalid amount */
function toAmount(
  text: string,
  units: Readonly<Record<string, number>>,
): number | null | undefined {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '') return null;
  const [, digits = '', unit = ''] = /^(\d[\d,_ ]*?)\s*([a-z]*)$/.exec(trimmed) ?? [];
  const size = units[unit];
  if (digits === '' || size === undefined) return undefined;
  return Number(digits.replaceAll(/[,_ ]/g, '')) * size;
}
