/** A connection that writes messages of a protocol without HTTP. */
import { connect } from 'node:net';
import type { Wire, WireTarget } from './load-http.ts';

/** @param isAcknowledged whether each body has a reply; otherwise it is done once it is written */
export function openSocketWire(isAcknowledged: boolean) {
  return ({ url }: WireTarget, onOpen: () => void): Wire => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, onOpen);
    socket.on('error', (error) => {
      throw error;
    });
    let answered: (isTaken: boolean) => void = () => {};
    socket.on('data', () => answered(true));
    return {
      send({ bytes }, onAnswer) {
        answered = onAnswer;
        socket.write(bytes, () => {
          if (!isAcknowledged) onAnswer(true);
        });
      },
    };
  };
}
