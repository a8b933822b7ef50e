// Package firntest is for tests of programs that use firn: a small cache whose time, room
// and disk the test has in hand.
//
//	c := firntest.New(t, firntest.SSD())
//	c.Set(key, value)
//	c.Clock.Advance(time.Hour)             // values expire
//	c.Evict(key)                           // its room was needed
//	c.Demote(key)                          // it lies on the SSD alone
//	c.Disk.Fail(firntest.Reads, syscall.EIO) // and cannot be read
//
// A Cache is a *firn.Cache: give its Cache field to what is tested. It is closed when the
// test ends. Nothing is written to a directory: the SSD is in memory. Everything works
// in bubbles of testing/synctest, where a disk that is slow takes no time, and one that
// is stalled can be waited for.
//
// # Words
//
//   - evict: take out of the cache, as if room were needed. OnEvict is called, with
//     firn.CauseCapacity, of what was in RAM.
//   - demote: move from RAM to the SSD, as if room were needed.
//   - sick: a disk that fails, stalls, is slow, full or returns wrong bytes, until Heal.
package firntest
