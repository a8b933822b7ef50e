// Package whatif estimates what a cache would do with another amount of memory: it lets miniature
// caches of a quarter to eight times the size live on the requests for a sample of the keys.
// Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations" (ATC'17), showed
// that a small sample is enough, for any policy.
//
// # Words
//
//   - factor: how many times the present size a size stands for.
//   - sample: keys, chosen by their hashes, that stand for all; rate: their share of all keys.
//   - size: a cache of another size, as a few miniature caches, its pieces. Each has a part of the
//     sample, and two of them share a tuner.
//   - group: sizes on one sample. Two groups, for small and large factors, have samples of
//     different rates, so that all sizes have about as many keys.
//   - control: the present size, simulated: its misses can be compared with the real ones. Each
//     group has one.
//   - part: of the sixteen of a sample, by which its error is estimated. A piece has four of them.
//   - warm: a size is full, or has seen nearly all there is: its misses are not those of a
//     beginner.
//
// # How the real cache helps
//
// A piece runs the code of the RAM tier's policy, with a tuner: a larger cache would choose another
// setting. Where two settings are nearly as good, which of them a cache takes is a matter of
// chance, and of two tuners one may take the one, and one the other. With a tuner for each piece
// there are too few keys to choose by: larger sizes missed a point more than caches of their size.
// What a sample brings of error is mostly that a few of the hottest keys are in it, or are not, and
// that it has some keys more or less than its rate says. Three figures of the real cache take most of
// that out:
//
//   - A miss ratio is that of the sample's misses to all requests, and not to the sample's: the
//     hottest keys hit at any size, and need not be in the sample.
//   - A piece is made smaller or larger by as much as its part of the sample's real misses is below
//     or above the rate: it has so many keys less or more.
//   - The control's error is known. The other sizes of its group share it, as far as their misses
//     go up and down with the control's over the parts: by so much they are corrected (a regression
//     estimator, as in sampling theory). Beyond what chance explains it is no error of the
//     sample, but another setting, and is not shared.
//
// # What bounds it
//
// Memory: the first records show how large they are, and so at which rate the largest size has room in
// the table. When the table gets full the sample becomes a little smaller. Deadlines take a quarter of
// it: the first record that has one makes the samples begin again, with room for them. Time: one
// event in 64 is timed, and the sample becomes smaller if events take more than their share of
// the time that passes on the cache's clock. When there is memory and time for more, a sample grows, and
// its sizes fill again.
//
// # What it does not know
//
// A record that a size has loaded again, because it had expired there and not in the cache, gets the
// deadline of the cache's. Segments are exact queues here. Records that
// wait in the lanes after they were deleted take no bytes.
package whatif
