// Package statstest makes statistics in which no two fields are alike, so that
// an exporter that mixes two of them up is found out.
package statstest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/firncache/firn/stats"
)

// Fixed are statistics that stand still. It is a source for every exporter.
type Fixed stats.Cache

// Stats are the statistics.
func (f Fixed) Stats() stats.Cache { return stats.Cache(f) }

// Distinct are statistics whose numbers all differ, from each other and, for
// different seeds, from those of another seed. Switches are on.
func Distinct(seed int) Fixed {
	var f Fixed
	n := int64(seed) * 1000
	fill(reflect.ValueOf(&f).Elem(), &n)
	return f
}

// fill gives the fields of a struct, and of those within, the numbers above *n.
func fill(v reflect.Value, n *int64) {
	for i := range v.NumField() {
		*n++
		switch field := v.Field(i); {
		case field.CanInt():
			field.SetInt(*n + 1)
		case field.CanUint():
			field.SetUint(uint64(*n) + 1)
		case field.CanFloat():
			field.SetFloat(float64(*n) + 1)
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.Type() == reflect.TypeFor[stats.Histogram]():
			h := field.Addr().Interface().(*stats.Histogram)
			for range *n%7 + 1 {
				h.Add(time.Duration(*n) * time.Microsecond)
			}
		case field.Kind() == reflect.Struct:
			fill(field, n)
		default:
			panic(fmt.Sprintf("statstest: %s.%s has the type %s: say here how it is filled", v.Type(), v.Type().Field(i).Name, field.Type()))
		}
	}
}

// Values are the values of stats.Metrics, by name.
func (f Fixed) Values() map[string]float64 {
	s := stats.Cache(f)
	values := make(map[string]float64, len(stats.Metrics()))
	for _, m := range stats.Metrics() {
		values[m.Name] = m.Value(&s)
	}
	return values
}

// Histograms are the distributions among stats.Metrics, by name.
func (f Fixed) Histograms() map[string]*stats.Histogram {
	s := stats.Cache(f)
	found := map[string]*stats.Histogram{}
	for _, m := range stats.Metrics() {
		if m.Histogram != nil {
			found[m.Name] = m.Histogram(&s)
		}
	}
	return found
}
