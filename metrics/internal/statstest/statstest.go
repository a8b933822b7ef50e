// Package statstest makes statistics in which no two fields are alike, so that
// an exporter that mixes two of them up is found out.
package statstest

import (
	"fmt"
	"reflect"

	"github.com/firncache/firn"
)

// Fixed are statistics that stand still. It is a source for every exporter.
type Fixed firn.Stats

// Stats are the statistics.
func (f Fixed) Stats() firn.Stats { return firn.Stats(f) }

// Distinct are statistics whose numbers all differ, from each other and, for
// different seeds, from those of another seed. Switches are on.
func Distinct(seed int) Fixed {
	var f Fixed
	v := reflect.ValueOf(&f).Elem()
	for i := range v.NumField() {
		n := int64(seed)*1000 + int64(i) + 2
		switch field := v.Field(i); {
		case field.CanInt():
			field.SetInt(n)
		case field.CanUint():
			field.SetUint(uint64(n))
		case field.CanFloat():
			field.SetFloat(float64(n))
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		default:
			panic(fmt.Sprintf("statstest: firn.Stats.%s has the type %s: say here how it is filled", v.Type().Field(i).Name, field.Type()))
		}
	}
	return f
}

// Values are the values of firn.Metrics, by name.
func (f Fixed) Values() map[string]float64 {
	s := firn.Stats(f)
	values := make(map[string]float64, len(firn.Metrics))
	for _, m := range firn.Metrics {
		values[m.Name] = m.Value(&s)
	}
	return values
}
