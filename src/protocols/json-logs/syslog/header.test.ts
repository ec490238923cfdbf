/** Syslog messages of programs and devices, and what is read from each. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readMessage, type SyslogMessage } from './header.ts';
import { TimeZone } from './local-time.ts';
import { tokenOf } from './structured-data.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

function read(text: string, zone = 'UTC'): Partial<SyslogMessage> {
  const { data, ...message } = readMessage(text, { nowMs, zone: new TimeZone(zone) });
  const present = Object.entries(message).filter(([, value]) => value !== undefined);
  const parts = data !== undefined && data.size > 0 ? { data: Object.fromEntries(data) } : {};
  return { ...Object.fromEntries(present), ...(parts as object) };
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
