/** Notes the reads of a connection. */
import type { Connection } from '../../src/store/connection.ts';
import type { Statement } from '../../src/store/sql/statement.ts';

export function watchedReads(
  connection: Connection,
  note: (statement: Statement) => void,
): Pick<Connection, 'read' | 'readBytes'> {
  return {
    read(statement, caller) {
      note(statement);
      return connection.read(statement, caller);
    },
    readBytes(statement, caller) {
      note(statement);
      return connection.readBytes(statement, caller);
    },
  };
}
