// Package quotas counts the bytes of the records of namespaces that have a limit in RAM, and
// says where the next of them lies that is to leave. Package ram evicts; it pays one test of a
// nil pointer where no namespace has a limit.
//
//   - A key begins with its generation's number. A record of a number that has an account is
//     marked in its version (bit 27) and counted; its removal subtracts it, by the mark. So
//     records from before the quota are neither counted nor subtracted.
//   - A write that leaves its namespace above its quota evicts, step by step, with the lock
//     free in between: in its own shard, or where the account has most. It does four steps, and
//     more only while the excess is above a thirty-second.
//   - An account has a hand in each lane of each shard. Everything is appended at a lane's end,
//     so no counted record lies before the hand, which passes records without the mark, and
//     whole segments that never had one. A namespace at its quota behaves as a cache of that
//     size, without ghosts until RAM is full. From then on its new records enter Small, so that
//     they die together and their segments are freed by cleaning at little cost.
//   - Clear gives a namespace another number. The account of the one before counts until it is
//     empty, and gives way first, read or not; of more than eight such accounts the oldest is
//     forgotten.
//
// It takes 64 bytes for each shard and account, a byte for each segment, and none for a record.
// For one record a namespace above its quota passes the headers stored since its last: with a
// hundred such namespaces of equal load about a hundred.
package quotas
