/**
 * Typed calls of Weir's API, generated from its OpenAPI document. The session
 * cookie authenticates each call; an error response is thrown as an `ApiProblem`.
 */
import createClient, { type Client } from 'openapi-fetch';
import { ApiProblem, unreachable } from './problem.ts';
import { noteServiceTime } from './service-clock.ts';
import type { paths } from './schema.d.ts';

export interface Api
  extends Pick<Client<HeadedPaths>, 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'> {
  /** For responses that the schema cannot type, such as event streams. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
}

/** The generated API without the headers that this client adds. */
type HeadedPaths = {
  [Path in keyof paths]: {
    [Method in keyof paths[Path]]: paths[Path][Method] extends { parameters: infer Parameters }
      ? Omit<paths[Path][Method], 'parameters'> & { parameters: Omit<Parameters, 'header'> }
      : paths[Path][Method];
  };
};

/**
 * @param accountId undefined = the calls concern no account
 * @param onRefused called on every 401: the session is over
 */
export function createApi(
  accountId: string | undefined,
  onRefused: (problem: ApiProblem) => void,
): Api {
  const headers = {
    // Without it the service does not honour the cookie.
    'x-weir-explorer': '1',
    ...(accountId !== undefined && { 'x-active-account': accountId }),
  };
  const checkedFetch = async (input: Request): Promise<Response> => {
    const response = await fetch(input).catch((error: unknown) => {
      throw input.signal.aborted ? error : unreachable(error);
    });
    noteServiceTime(response.headers.get('date'));
    if (response.ok) return response;
    const problem = new ApiProblem(response.status, await readJson(response));
    if (problem.status === 401) onRefused(problem);
    throw problem;
  };
  const client = createClient<HeadedPaths>({
    baseUrl: location.origin,
    headers,
    fetch: checkedFetch,
  });
  return {
    ...client,
    fetch: (path, init) =>
      checkedFetch(
        new Request(new URL(path, location.origin), {
          ...init,
          headers: { ...headers, ...(init?.headers as Record<string, string> | undefined) },
        }),
      ),
  };
}

/** Returns the data; errors were thrown before. */
export async function dataOf<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const { data } = await call;
  return data as Data;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
