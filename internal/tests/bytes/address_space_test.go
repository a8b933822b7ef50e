package bytes

import (
	"errors"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// Open says which option asked for address space that there is not: no system has
// the 64 TiB and what is laid out beside them.
func TestNoAddressSpaceNamesTheOption(t *testing.T) {
	t.Parallel()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, MaxRAMBytes: 1 << 46})
	if err == nil {
		c.Close()
	}
	var option *firn.OptionError
	if !errors.As(err, &option) || option.Field != "MaxRAMBytes" || !strings.Contains(err.Error(), "address space") {
		t.Errorf("%v: want an OptionError of MaxRAMBytes about address space", err)
	}
}
