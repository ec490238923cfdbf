/**
 * Picks the worker with the fewest open connections, the least recently picked of several. Long
 * connections (HTTP/2, gRPC) are then spread as evenly as short ones.
 */

export interface ConnectionTaker<Connection> {
  /** Open connections that were handed to this worker. */
  connections(): number;
  hand(connection: Connection): void;
}

export interface Spread<Connection> {
  add(taker: ConnectionTaker<Connection>): void;
  remove(taker: ConnectionTaker<Connection>): void;
  /** @returns why the connection was refused, or undefined */
  hand(connection: Connection): 'cap' | 'no_worker' | undefined;
  takers(): number;
  /** Open connections of all workers. */
  connections(): number;
}

export function createSpread<Connection>(maxConnections: number): Spread<Connection> {
  /** Least recently picked first. */
  let takers: readonly ConnectionTaker<Connection>[] = [];
  const without = (one: ConnectionTaker<Connection>) => takers.filter((taker) => taker !== one);
  const connections = () => takers.reduce((sum, taker) => sum + taker.connections(), 0);
  return {
    add(taker) {
      takers = [...takers, taker];
    },
    remove(taker) {
      takers = without(taker);
    },
    hand(connection) {
      const [first, ...others] = takers;
      if (first === undefined) return 'no_worker';
      if (connections() >= maxConnections) return 'cap';
      let fewest = first;
      for (const taker of others) {
        if (taker.connections() < fewest.connections()) fewest = taker;
      }
      takers = [...without(fewest), fewest];
      fewest.hand(connection);
      return undefined;
    },
    takers: () => takers.length,
    connections,
  };
}
