package remote

import (
	"fmt"
	"strconv"
	"strings"
)

// OptionError says which field of Options is wrong, and why.
type OptionError struct {
	Field string // its name, as "Staleness", or "Addrs[1]"
	Err   error  // its value, and what is wanted
}

func (e *OptionError) Error() string { return "remote: Options." + e.Field + " " + e.Err.Error() }

// Unwrap is Err.
func (e *OptionError) Unwrap() error { return e.Err }

func optionError(field string, value any, want string) error {
	if s, ok := value.(string); ok {
		value = strconv.Quote(s)
	}
	return &OptionError{field, fmt.Errorf("is %v: want %s", value, want)}
}

func optionErrorAt(field string, i int, value, want string) error {
	if at := strings.LastIndexByte(value, '@'); at >= 0 {
		value = "…" + value[at:] // of a URL, without its password
	}
	return optionError(fmt.Sprintf("%s[%d]", field, i), value, want)
}
