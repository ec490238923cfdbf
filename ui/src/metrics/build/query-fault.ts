/** Where a query is wrong. Pure. */
import { parseSyntax } from '../../../../src/promql/parser/parser.ts';
import type { TextFault } from '../../parts/editor/text-fault.ts';

/** Of the syntax alone; undefined for a text that can be read, and for an empty one. */
export function syntaxFaultOf(text: string): TextFault | undefined {
  if (text.trim() === '') return undefined;
  try {
    parseSyntax(text);
    return undefined;
  } catch (error) {
    return toFault(text, error);
  }
}

/** The place is in the message, as Prometheus has it: `1:5: parse error: …`. */
export function toFault(text: string, error: unknown): TextFault {
  const whole = error instanceof Error ? error.message : String(error);
  const [, line, column, message] = /(\d+):(\d+): parse error: (.*)$/s.exec(whole) ?? [];
  if (message === undefined) return { position: undefined, message: whole };
  const lines = text.split('\n').slice(0, Number(line) - 1);
  const before = lines.reduce((sum, one) => sum + one.length + 1, 0);
  return { position: Math.min(before + Number(column) - 1, text.length), message };
}
