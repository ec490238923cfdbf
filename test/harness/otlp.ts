/** A shortcut for tests that send OTLP logs over HTTP to the first run's receiver. */
import type { Answer } from './http.ts';
import type { Service } from './service.ts';

/** @param request an `ExportLogsServiceRequest`: its JSON form, or protobuf where it is bytes. */
export function postOtlp(
  service: Service,
  request: object | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { url, token } = service.quickstart.receivers.otlp;
  const isBytes = request instanceof Uint8Array;
  return service.http.send(url, {
    method: 'POST',
    body: isBytes ? request : JSON.stringify(request),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': isBytes ? 'application/x-protobuf' : 'application/json',
      ...headers,
    },
  });
}
