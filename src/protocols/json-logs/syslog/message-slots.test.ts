/** Syslog messages of programs and devices, and what is read from each. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toSyslogWord } from '../../../model/severity.ts';
import { createEventsDecoder } from '../decode-events.ts';
import { EventSlots, field } from '../event-fields.ts';
import { valueKind } from '../label-set.ts';
import { TimeZone } from './local-time.ts';
import { MessageSlots, openMessages } from './message-slots.ts';
import { tokenOf } from './structured-data.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const severities = Array.from({ length: 8 }, (_, number) => toSyslogWord(String(number)));
const names = new Map([
  ['facility', 'facility'],
  ['procid', 'procId'],
  ['msgid', 'msgId'],
]);
const slots = new EventSlots();
const message = new MessageSlots(1000);

interface Read {
  readonly time?: string;
  readonly data?: Readonly<Record<string, string>>;
}

function read(text: string, zone = 'UTC'): Read {
  const body = Buffer.from(text);
  message.load(body, { start: 0, end: body.length }, true);
  const hasHeader = message.read(slots, { nowMs, zone: new TimeZone(zone) });
  const fields = {
    message: textOf(field.message),
    time: textOf(field.timestamp),
    host: textOf(field.host),
    app: textOf(field.serviceName),
  };
  const severity = textOf(field.severity);
  const known: [string, unknown][] = [['hasHeader', hasHeader]];
  if (severity !== undefined) known.push(['severity', severities.indexOf(severity)]);
  const data: [string, string][] = [];
  for (const [name, value] of labels()) {
    const property = names.get(name);
    if (property === undefined) data.push([name, value]);
    else known.push([property, value]);
  }
  if (data.length > 0) known.push(['data', Object.fromEntries(data)]);
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...present, ...known]);
}

function textOf(index: number): string | undefined {
  if (slots.isAbsent(index)) return undefined;
  return message.bytes.toString('utf8', slots.start[index], slots.end[index]);
}

function labels(): [string, string][] {
  const { count, kind, given, keySource, keyStart, keyEnd, valueStart, valueEnd } = slots.labels;
  return Array.from({ length: count }, (_, label) => [
    keySource[label]!.toString('utf8', keyStart[label], keyEnd[label]),
    kind[label] === valueKind.given
      ? given[label]!.toString()
      : message.bytes.toString('utf8', valueStart[label], valueEnd[label]),
  ]);
}

const user = { facility: 'user', severity: 5, hasHeader: true };

const messages: readonly (readonly [string, object])[] = [
  // RFC 5424 §6.5
  [
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed",
    {
      facility: 'auth',
      severity: 2,
      hasHeader: true,
      time: '2003-10-11T22:14:15.003Z',
      host: 'mymachine.example.com',
      app: 'su',
      msgId: 'ID47',
      message: "'su root' failed",
    },
  ],
  [
    '<165>1 2003-10-11T22:14:15.003Z h evntslog - ID47 [a@1 iut="3" eventID="1\\"1\\]"][b] x',
    {
      facility: 'local4',
      severity: 5,
      hasHeader: true,
      time: '2003-10-11T22:14:15.003Z',
      host: 'h',
      app: 'evntslog',
      msgId: 'ID47',
      message: 'x',
      data: { 'a@1.iut': '3', 'a@1.eventID': '1"1]' },
    },
  ],
  ['<13>1 - - - - - -', { ...user, message: '' }],
  ['<13>1 - - - - - [a@1 b="c"]', { ...user, message: '', data: { 'a@1.b': 'c' } }],
  ['<13>1 - - - - - [weir token="wri_x"] m', { ...user, message: 'm' }],
  [
    '<13>1 - - - - - [a b="c" b="d"][weirs token="e"][weir@1x token="f"] m',
    { ...user, message: 'm', data: { 'a.b': 'd', 'weirs.token': 'e', 'weir@1x.token': 'f' } },
  ],
  // An escape within what is not structured data stays.
  [
    '<13>1 - - - - - [a b="\\""][a b=c] x',
    { ...user, message: '1 - - - - - [a b="\\""][a b=c] x', hasHeader: false },
  ],
  // RFC 3164 §5.4
  [
    "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
    {
      facility: 'auth',
      severity: 2,
      hasHeader: true,
      time: '2025-10-11T22:14:15.000Z',
      host: 'mymachine',
      app: 'su',
      message: "'su root' failed",
    },
  ],
  [
    '<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!',
    { ...user, time: '2026-02-05T17:32:18.000Z', host: '10.0.0.99', message: 'Use the BFG!' },
  ],
  // Without a host, as of /dev/log.
  [
    '<13>Feb  5 17:32:18 postfix/smtpd[17]: lost',
    {
      ...user,
      time: '2026-02-05T17:32:18.000Z',
      app: 'postfix/smtpd',
      procId: '17',
      message: 'lost',
    },
  ],
  // rsyslog's forward format.
  [
    '<13>2026-02-05T17:32:18.123456+01:00 web app[1]: x: y',
    {
      ...user,
      time: '2026-02-05T17:32:18.123456+01:00',
      host: 'web',
      app: 'app',
      procId: '1',
      message: 'x: y',
    },
  ],
  // Cisco
  [
    '<189>237: *Mar  1 11:46:11.250: %SYS-5-CONFIG_I: Configured from console',
    {
      facility: 'local7',
      severity: 5,
      hasHeader: true,
      time: '2026-03-01T11:46:11.250Z',
      app: '%SYS-5-CONFIG_I',
      message: 'Configured from console',
    },
  ],
  [
    '<189>Jan 20 2026 10:00:00 fw : %ASA-6-302013: Built',
    {
      facility: 'local7',
      severity: 5,
      hasHeader: true,
      time: '2026-01-20T10:00:00.000Z',
      host: 'fw',
      message: ': %ASA-6-302013: Built',
    },
  ],
  [
    '<13>Feb  5 2026 17:32:18 UTC: %X: y',
    { ...user, time: '2026-02-05T17:32:18.000Z', app: '%X', message: 'y' },
  ],
  // A host in capitals is no zone.
  [
    '<13>Feb  5 17:32:18 MAIL su: x',
    { ...user, time: '2026-02-05T17:32:18.000Z', host: 'MAIL', app: 'su', message: 'x' },
  ],
  // Days and times that do not exist keep their text, which gets a warning.
  [
    '<13>Feb 30 17:32:18 h a: x',
    { ...user, time: 'Feb 30 17:32:18', host: 'h', app: 'a', message: 'x' },
  ],
  // The last 29 February is of a leap year.
  [
    '<13>Feb 29 10:00:00 h a: x',
    { ...user, time: '2024-02-29T10:00:00.000Z', host: 'h', app: 'a', message: 'x' },
  ],
  // A week ahead is of this year, more is of the last one.
  [
    '<13>Mar  7 10:00:00 h a: x',
    { ...user, time: '2026-03-07T10:00:00.000Z', host: 'h', app: 'a', message: 'x' },
  ],
  [
    '<13>Mar 27 10:00:00 h a: x',
    { ...user, time: '2025-03-27T10:00:00.000Z', host: 'h', app: 'a', message: 'x' },
  ],
  // No header.
  ['<13>hello', { ...user, message: 'hello', hasHeader: false }],
  ['<13>1 broken', { ...user, message: '1 broken', hasHeader: false }],
  ['<13>1 - - - - - [a b=c] x', { ...user, message: '1 - - - - - [a b=c] x', hasHeader: false }],
  ['<192>x', { message: '<192>x', hasHeader: false }],
  ['', { message: '', hasHeader: false }],
  ['plain: text', { message: 'plain: text', hasHeader: false }],
];

for (const [text, expected] of messages) {
  test(text.slice(0, 60) || 'an empty message', () => assert.deepEqual(read(text), expected));
}

test('bytes that are not UTF-8 are repaired, also at the end of a message', async () => {
  const limits = { maxEvents: 10, maxDepth: 8, maxRejections: 10 };
  const decode = createEventsDecoder(openMessages);
  const options = { nowMs, zone: new TimeZone('UTC'), messages: message, warnings: new Map() };
  for (const body of [Buffer.from('3 größer'), Buffer.from('3 gr\xf6', 'latin1')]) {
    const { payload } = await decode({ body, ...options }, limits);
    assert.match(Buffer.from(payload).toString(), /gr\ufffd/);
  }
});

suite('a time without a zone', () => {
  const times = [
    ['<13>Feb  5 17:32:18 h a: x', '2026-02-05T16:32:18.000Z'],
    ['<13>Jul  5 17:32:18 h a: x', '2025-07-05T15:32:18.000Z'],
    ['<13>Jul  5 17:32:18 +0000 h a: x', '2025-07-05T17:32:18.000Z'],
    ['<13>2026-02-05 17:32:18.250 h a: x', '2026-02-05T16:32:18.250Z'],
    ['<13>2026-02-05T17:32:18Z h a: x', '2026-02-05T17:32:18Z'],
  ] as const;
  for (const [text, time] of times) {
    test(text, () => assert.equal(read(text, 'Europe/Berlin').time, time));
  }
});

test('finds the token in structured data only', () => {
  const token = (text: string) => tokenOf(Buffer.from(text));
  assert.equal(token('<13>1 - - - - - [a b="c"][weir@32473 token="wri_x"] m'), 'wri_x');
  assert.equal(token('<13>1 - - - - - [a token="wri_x"] m'), undefined);
  assert.equal(token('<13>1 - - - - - - [weir token="wri_x"]'), undefined);
  assert.equal(token('[weir token="wri_x"]'), undefined);
});
