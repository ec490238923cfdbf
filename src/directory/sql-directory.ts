/** The directory over an SQL database, whichever it is. */
import { createAccountQueries } from './account-queries.ts';
import type { Database } from './database.ts';
import type { Directory, GrantSource } from './port.ts';
import { createReceiverQueries } from './receiver-queries.ts';
import { createSeedQueries } from './seed-queries.ts';
import { createStatisticsQueries } from './statistics-queries.ts';
import { createStreamQueries } from './stream-queries.ts';
import { createTicketQueries } from './ticket-queries.ts';
import { createTokenQueries } from './token-queries.ts';
import { createViewQueries } from './view-queries.ts';

/** Takes over `database` and closes it. */
export function createSqlDirectory(database: Database): Directory & GrantSource {
  return {
    ...createSeedQueries(database),
    ...createAccountQueries(database),
    ...createStreamQueries(database),
    ...createReceiverQueries(database),
    ...createTokenQueries(database),
    ...createStatisticsQueries(database),
    ...createViewQueries(database),
    ...createTicketQueries(database),
    close: () => database.close(),
  };
}
