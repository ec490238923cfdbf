/** Holds back the answers to tokens that are not accepted, on whichever protocol. */
import { Http2ServerRequest } from 'node:http2';
import type { Admission } from '../admission/port.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { type HttpRequest, type HttpResponse, readHeaders } from './transport.ts';

interface PaceContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  readonly admission: Pick<Admission, 'paceFailure'>;
}

/** Resolves when the answer may be sent; where too many wait, the connection ends after it. */
export async function paceFailure(
  { surface, events, admission }: PaceContext,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const { forwardedFor } = readHeaders(request);
  const pace = await admission.paceFailure(request.socket.remoteAddress ?? '', forwardedFor);
  events.authenticationFailed(surface, pace);
  if (pace !== 'cut') return;
  // Other requests on an HTTP/2 connection are still answered.
  if (request instanceof Http2ServerRequest) request.stream.session?.close();
  else response.setHeader('connection', 'close');
}
