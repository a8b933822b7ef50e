// Package stats has the figures of a cache: [Cache] is what firn.Cache.Stats returns, [Namespace] those
// of a typed cache, [Curve] what a cache would do at other sizes. [Metrics] describes every field of a
// Cache, for what shows or exports figures.
//
//	cache.go       Cache, and its parts for RAM, SSD, the shared tier and loads; Namespace
//	histogram.go   Histogram: a distribution of durations
//	curve.go       Curve: estimates for other amounts of memory
//	metrics.go     Metrics: the name, unit and help of each figure
package stats
