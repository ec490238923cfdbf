/** Settings of the listeners of protocols that are not HTTP. All are off by default. */
import { maxRowsPerBatch } from '../model/log-id.ts';
import { gibibyte, integer, mebibyte, section, text, textOf } from './schema-parts.ts';

function address(description: string) {
  const form = /^(?:(?:\[[\da-f:.]+\]|[\w.-]*):)?(\d{1,5})$/i;
  return textOf(
    (value) => value === '' || Number(form.exec(value)?.[1] ?? Infinity) <= 65_535,
    'an address such as 0.0.0.0:514, or a port',
  ).describe(`${description} as host:port, or a port on all interfaces; empty = off.`);
}

const receiver = (kind: string, orElse: string) =>
  text().describe(`Receiver (kind ${kind}) that ${orElse}`);

export const syslogSection = section({
  tcp: address('Listen address of syslog over TCP,'),
  tls: address('Listen address of syslog over TLS,'),
  udp: address('Listen address of syslog over UDP,'),
  receiver: receiver(
    'http_json',
    'gets messages from senders without a client certificate; empty = the token in the ' +
      'structured data names it.',
  ),
  timeZone: textOf(isTimeZone, 'a time zone such as Europe/Berlin', 'UTC').describe(
    'Zone of times that are sent without one.',
  ),
  maxMessageBytes: integer('bytes', 64 * 1024, 480, mebibyte).describe(
    'Longest message; longer ones are cut, with a warning.',
  ),
});

export const gelfSection = section({
  tcp: address('Listen address of GELF over TCP,'),
  tls: address('Listen address of GELF over TLS,'),
  udp: address('Listen address of GELF over UDP,'),
  receiver: receiver('http_json', 'gets messages from senders without a client certificate.'),
  maxMessageBytes: integer('bytes', 256 * 1024, 1024, mebibyte).describe(
    'Longest message, decompressed; a longer one is dropped.',
  ),
});

export const statsdSection = section({
  tcp: address('Listen address of StatsD over TCP,'),
  tls: address('Listen address of StatsD over TLS,'),
  udp: address('Listen address of StatsD over UDP,'),
  receiver: receiver('prometheus', 'gets metrics from senders without a client certificate.'),
  flushMs: integer('ms', 10_000, 100, 600_000).describe('Time between two samples of each series.'),
  maxSeries: integer('count', 10_000, 1, 1_000_000).describe(
    'Most series of a receiver at once; lines with others are dropped.',
  ),
  forgetAfterMs: integer('ms', 300_000, 1000, 7 * 24 * 3_600_000).describe(
    'A series without a line for this time gets no more samples, and starts over with the next.',
  ),
});

export const forwardSection = section({
  tcp: address('Listen address of Fluent Forward over TCP,'),
  tls: address('Listen address of Fluent Forward over TLS,'),
  receiver: receiver('http_json', 'gets messages from senders without a client certificate.'),
  sharedKey: text().describe('Key that senders must know; empty = none is required.'),
  maxMessageBytes: integer('bytes', 16 * mebibyte, 1024, gibibyte).describe(
    'Largest message on the wire; a larger one closes its connection.',
  ),
  maxInflatedBytes: integer('bytes', 64 * mebibyte, 1024, gibibyte).describe(
    'Most entries of a message, decompressed; a message with more is dropped.',
  ),
  maxEvents: integer('events', 200_000, 1, maxRowsPerBatch).describe(
    'Most entries of a message; a message with more is dropped.',
  ),
});

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // RangeError: unknown.
    return false;
  }
}
