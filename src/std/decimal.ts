/** Decimal numbers in texts of senders and users, matched in linear time. */

/** Without a sign. */
export const unsignedDecimal = String.raw`(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;

/** A whole text. */
export const decimal = new RegExp(`^[+-]?${unsignedDecimal}$`);
