/** An error in a text that is edited. */

export interface TextFault {
  /** UTF-16 units from 0; undefined = of the text as a whole. */
  readonly position: number | undefined;
  readonly message: string;
}

export function faultText({ position, message }: TextFault): string {
  return position === undefined ? message : `At position ${position + 1}: ${message}`;
}
