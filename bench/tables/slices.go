package tables

import "io"

// elements is how many elements a slice gets.
const elements = 1000

// row is 504 bytes.
type row struct {
	id   int
	rest [62]int
}

// sum keeps the slices from being left out.
var sum int

// Slices writes what a slice of structs costs that grows to 1,000 elements, an element.
func Slices(w io.Writer) error {
	return compare(w, elements, "a slice of 1,000 structs of 504 bytes", []way{
		{"append to nil, as interfaces", func() { fillAny(nil) }},
		{"append to make, as interfaces", func() { fillAny(make([]any, 0, elements)) }},
		{"append to make, as pointers", func() { fillPointers(make([]*row, 0, elements)) }},
		{"append to nil, by value", func() { fillRows(nil) }},
		{"append to make, by value", func() { fillRows(make([]row, 0, elements)) }},
	})
}

func fillAny(all []any) {
	for i := range elements {
		all = append(all, &row{id: i})
	}
	for _, r := range all {
		sum += r.(*row).id
	}
}

func fillPointers(all []*row) {
	for i := range elements {
		all = append(all, &row{id: i})
	}
	for _, r := range all {
		sum += r.id
	}
}

func fillRows(all []row) {
	for i := range elements {
		all = append(all, row{id: i})
	}
	for i := range all {
		sum += all[i].id
	}
}
