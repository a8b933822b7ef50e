// Package curve holds what Cache.Curve says of other cache sizes against caches of these sizes: on the
// traces of package hitratio as they are, and on loads that change.
//
// A cache of 5 or 10 % of a load's bytes is asked at ten moments, at even distances but for the first of
// them, what half, twice and four times its size would miss. A Point is one answer, beside what
// caches of that size missed: in the window that the curve names, and since the load began.
package curve
