/** Fields of the Journal Export Format. */

/** A field whose value may have line breaks: its length precedes it. */
export function dataField(name: string, data: string): string {
  const length = Buffer.alloc(8);
  length.writeUInt32LE(data.length);
  return `${name}\n${length.toString('latin1')}${data}\n`;
}
