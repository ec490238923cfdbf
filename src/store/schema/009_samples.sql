-- `Bits` is 0 for integers, which are most samples. Stored without them it takes a twelfth less, and the samples a
-- twentieth. By default a merge does that from 94 % zeros on, and an insert by an estimate, so that merged parts were
-- larger than their share of inserted ones.
ALTER TABLE {{table samples}}{{onCluster}} MODIFY SETTING ratio_of_defaults_for_sparse_serialization = 0.75;
