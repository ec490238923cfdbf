/**
 * Names of the fields of a JSON log event, in order of precedence: first Weir's, then those of
 * loggers. A dotted name is also the member of an object: `{"log": {"level": "warn"}}`.
 */
export const eventNames = {
  message: [
    'message',
    'msg',
    'event',
    'log',
    'MESSAGE',
    'short_message',
    'body',
    'fields.message',
    '@m',
    '@mt',
    'Message',
    'error.message',
  ],
  /** A number counts in `level` and in syslog's `PRIORITY`. */
  severity: [
    'severity',
    'level',
    'levelname',
    'level_name',
    'log.level',
    'severity_text',
    '@l',
    'LogLevel',
    'PRIORITY',
  ],
  service: [
    'service_name',
    'service',
    'service.name',
    'SYSLOG_IDENTIFIER',
    'PROGRAM',
    'fields.service',
  ],
  host: ['host', 'hostname', 'host.name', 'host.hostname', '_HOSTNAME', 'HOST'],
  time: [
    'timestamp',
    'time',
    'ts',
    '@timestamp',
    'asctime',
    'datetime',
    '__REALTIME_TIMESTAMP',
    '@t',
    'Timestamp',
    'ISODATE',
  ],
} as const;
