// Package whatif tells what a cache would do with another amount of memory: it lets miniature
// caches of a quarter to eight times the size live on the requests for a sample of the keys.
// Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations" (ATC'17), showed
// that a small sample is enough, for any policy.
//
// # Words
//
//   - factor: how many times the present size a miniature cache stands for.
//   - sample: keys, chosen by their hashes, that stand for all; rate: their share of all keys.
//   - group: caches on one sample. Two groups, for small and large factors, have samples of
//     different rates, so that all caches have about as many keys.
//   - control: the miniature cache of the present size, whose misses can be compared with the
//     real ones. Each group has one.
//
// # How the real cache helps
//
// Each miniature cache runs the code of the RAM tier's policy, with a tuner of its own: a larger
// cache would choose another setting. What a sample brings of error is mostly that a few of the
// hottest keys are in it, or are not, and that it has some keys more or less than its rate says.
// Three figures of the real cache take most of that out:
//
//   - A miss ratio is that of the sample's misses to all requests, and not to the sample's: the
//     hottest keys hit at any size, and need not be in the sample.
//   - A miniature cache is made smaller or larger by as much as the sample's share of the real
//     misses is below or above the rate: it has so many keys less or more.
//   - The control's error is known. The other caches of its group share it, as far as their misses
//     go up and down with the control's over parts of the sample: by so much they are corrected
//     (a regression estimator, as in sampling theory).
//
// The parts of the sample also give the error that is left.
package whatif
