/** Error of a failed call: the problem document (RFC 9457), or why there was no response. */

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Error code of the service, such as `forbidden`; may be empty. */
  readonly code: string;
  readonly requestId: string;
  /** The invalid field or parameter, such as `limits.burstEvents`; may be empty. */
  readonly parameter: string;

  constructor(status: number, body: unknown) {
    const { detail, title, code, requestId, parameter } = fieldsOf(body);
    super(detail || title || wordsOf(status));
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.parameter = parameter;
  }
}

/** The service is unavailable or unreachable. */
export function unreachable(cause: unknown): ApiProblem {
  const problem = new ApiProblem(0, undefined);
  problem.cause = cause;
  return problem;
}

type TextField = 'detail' | 'title' | 'code' | 'requestId' | 'parameter';

function fieldsOf(body: unknown): Record<TextField, string> {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    detail: text('detail'),
    title: text('title'),
    code: text('code'),
    requestId: text('requestId'),
    parameter: text('parameter'),
  };
}

function wordsOf(status: number): string {
  return status === 0
    ? 'cannot reach Weir: check that it is running and that this browser trusts its certificate'
    : `request failed: Weir answered ${status} without a reason`;
}
