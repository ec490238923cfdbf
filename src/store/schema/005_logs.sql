-- Most clocks count micro- or milliseconds, which the greatest common divisor removes: 5.1 -> 3.1 and 1.6 bytes a row.

ALTER TABLE {{table logs}}{{onCluster}} MODIFY COLUMN Timestamp DateTime64(9, 'UTC') CODEC(GCD, T64, LZ4);
