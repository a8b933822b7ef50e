// Package enumtext gives the values of small types names, and reads them.
package enumtext

import (
	"fmt"
	"reflect"
	"strings"
)

// Name is the name of v, of those from 0 on, or its type and number.
func Name[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[T]().Name(), uint8(v))
}

// Parse sets v to the value of that name, of those from 0 to last.
func Parse[T interface {
	~uint8
	fmt.Stringer
}](v *T, last T, text []byte) error {
	var names []string
	for choice := T(0); choice <= last; choice++ {
		if choice.String() == string(text) {
			*v = choice
			return nil
		}
		names = append(names, choice.String())
	}
	return fmt.Errorf("%q is none of the choices: want %s", text, strings.Join(names, ", "))
}
