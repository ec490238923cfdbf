/**
 * Which worker gets a connection: the one that has the fewest, so that those that live for days and
 * carry everything, of HTTP/2 or gRPC, are spread as evenly as short ones.
 */

export interface ConnectionTaker<Connection> {
  /** That it was handed and that have not ended. */
  connections(): number;
  hand(connection: Connection): void;
}

export interface Spread<Connection> {
  add(taker: ConnectionTaker<Connection>): void;
  remove(taker: ConnectionTaker<Connection>): void;
  /** @returns why nobody was handed the connection; undefined when somebody was. */
  hand(connection: Connection): 'cap' | 'no_worker' | undefined;
  takers(): number;
  /** Of all of them. */
  connections(): number;
}

export function createSpread<Connection>(maxConnections: number): Spread<Connection> {
  /** Who was handed one longest ago stands first. */
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
