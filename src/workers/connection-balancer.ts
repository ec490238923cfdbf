/**
 * Picks the worker with the fewest open connections, the least recently picked of several. Long
 * connections (HTTP/2, gRPC) are then spread as evenly as short ones.
 */

export interface ConnectionTarget<Connection> {
  /** Open connections that were handed to this worker. */
  connections(): number;
  hand(connection: Connection): void;
}

export function createConnectionBalancer<Connection>(maxConnections: number) {
  /** Least recently picked first. */
  let targets: readonly ConnectionTarget<Connection>[] = [];
  const without = (one: ConnectionTarget<Connection>) => targets.filter((target) => target !== one);
  const connections = () => targets.reduce((sum, target) => sum + target.connections(), 0);
  return {
    add(target: ConnectionTarget<Connection>): void {
      targets = [...targets, target];
    },
    remove(target: ConnectionTarget<Connection>): void {
      targets = without(target);
    },
    /** @returns why the connection was refused, or undefined */
    hand(connection: Connection): 'cap' | 'no_worker' | undefined {
      const [first, ...others] = targets;
      if (first === undefined) return 'no_worker';
      if (connections() >= maxConnections) return 'cap';
      let fewest = first;
      for (const target of others) {
        if (target.connections() < fewest.connections()) fewest = target;
      }
      targets = [...without(fewest), fewest];
      fewest.hand(connection);
      return undefined;
    },
    targets: () => targets.length,
    /** Open connections of all workers. */
    connections,
  };
}
