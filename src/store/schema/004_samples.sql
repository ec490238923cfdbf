-- A decimal of few digits is stored as an integer: `Bits` has the number of digits, `Integer` the scaled value, which is
-- not 0. Any other value than an integer or decimal has `Integer` 0 and its bits in `Bits`, as all had before.
ALTER TABLE {{table samples}}{{onCluster}} MODIFY COLUMN Value Float64
    ALIAS multiIf(Bits = 0, toFloat64(Integer), Integer = 0, reinterpretAsFloat64(Bits), Integer / intExp10(Bits));

-- With a jitter of a few ms, Delta leaves two bytes of a time, of which T64 keeps one or two.
ALTER TABLE {{table samples}}{{onCluster}} MODIFY COLUMN UnixMilli Int64 CODEC(Delta(8), T64, ZSTD(1));

-- No statement over samples uses statistics of columns, which take an eighth of an insert. A vertical merge of these
-- few columns costs four fifths of a horizontal one.
ALTER TABLE {{table samples}}{{onCluster}}
    MODIFY SETTING auto_statistics_types = '', vertical_merge_algorithm_min_columns_to_activate = 1;
