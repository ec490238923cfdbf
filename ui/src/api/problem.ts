/** What a refused call throws: the service's own words (RFC 9457), or why there was no answer. */

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** The service's word for the kind of refusal, such as `forbidden`; empty where it gave none. */
  readonly code: string;
  readonly requestId: string;
  /** The field or parameter at fault, such as `limits.burstEvents`; empty where it is none. */
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

/** The service is away, or the way to it is. */
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
    ? 'cannot reach Weir: check that it runs and that this browser trusts its certificate'
    : `cannot do that: Weir answered ${status} without a reason`;
}
