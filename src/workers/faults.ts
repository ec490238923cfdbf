/** How a fault goes from one process of a Weir to another. Pure. */
import { AppError, type AppErrorOptions, type ErrorCode, errorTable } from '../model/errors.ts';

interface TravellingFault {
  /** Absent for a bug. */
  readonly code?: ErrorCode;
  readonly message: string;
  readonly options?: Omit<AppErrorOptions, 'cause'>;
  /** For the log of the other process. */
  readonly cause?: string | undefined;
}

export function encodeFault(fault: unknown): string {
  const travelling: TravellingFault =
    fault instanceof AppError
      ? {
          code: fault.code,
          message: fault.message,
          options: toOptions(fault),
          cause: fault.cause === undefined ? undefined : toText(fault.cause),
        }
      : { message: toText(fault) };
  return JSON.stringify(travelling);
}

/** @returns an AppError where `encodeFault` was given one. */
export function decodeFault(text: string): Error {
  const { code, message, options, cause } = JSON.parse(text) as TravellingFault;
  if (code === undefined || !(code in errorTable)) return new Error(message);
  return new AppError(code, message, { ...options, ...(cause && { cause: new Error(cause) }) });
}

function toOptions({ retryAfterSeconds, parameter, rateLimit }: AppError) {
  return {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(parameter !== undefined && { parameter }),
    ...(rateLimit !== undefined && { rateLimit }),
  };
}

function toText(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
