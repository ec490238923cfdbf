/** Messages of GELF 1.1 (https://go2docs.graylog.org/current/getting_in_log_data/gelf.html). */
import { skipValue } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import type { OpenSource } from '../event-source.ts';
import { slotKind, field } from '../event-fields.ts';
import { EventReader, plainEvents } from '../event-reader.ts';
import { findFault } from '../event-row.ts';
import { walkMembers } from '../json-walk.ts';

const underscore = 0x5f;
const versionTable = createKeyTable(['version']);
/** An additional field of such a name keeps its underscore. */
const standardTable = createKeyTable([
  'version',
  'host',
  'short_message',
  'full_message',
  'timestamp',
  'level',
  'facility',
  'line',
  'file',
]);

/** Additional fields are those of JSON events, without their underscore. */
export const openGelfMessages: OpenSource = (bytes, slots, maxDepth) => {
  const reader = new EventReader(bytes, slots, maxDepth, plainEvents);
  return {
    read(at) {
      reader.clear();
      return walkMembers(bytes, at, (source, start, end, valueAt) => {
        if (source[start] === underscore && findKey(standardTable, source, start + 1, end) < 0) {
          return reader.readValue(source, start + 1, end, valueAt);
        }
        if (findKey(versionTable, source, start, end) < 0) {
          return reader.readValue(source, start, end, valueAt);
        }
        return skipValue(bytes, valueAt, maxDepth - 1);
      });
    },
    findFault() {
      const isMissing = slots.isAbsent(field.shortMessage) && slots.isAbsent(field.message);
      if (isMissing) return 'short_message is missing';
      const kind = slots.kind[field.shortMessage];
      const isText = kind === slotKind.absent || slots.isString(field.shortMessage);
      return isText ? findFault(slots) : 'short_message is not a string';
    },
  };
};
