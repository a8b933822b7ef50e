// Package curve holds what firn says of other cache sizes against caches of these sizes: the miss
// ratios that a Curve predicts, and those that are measured, on the traces of package hitratio.
//
// It asks two predictors. Policy is the simulation that package whatif has, beside a cache that
// has firn's eviction and no data: what the method is worth. Cache is Cache.Curve of a cache
// that is open and at work: what a user sees.
package curve
