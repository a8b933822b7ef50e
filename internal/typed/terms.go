package typed

import (
	"fmt"
	"time"
)

// Terms are what all users of a namespace agree on, by the names of TypedOptions.
type Terms struct {
	MaxBytes int64

	// ExpireAfterAccess is 0 where no deadlines slide: of those that such a user sets, half would
	// slide for one whose deadlines do.
	ExpireAfterAccess time.Duration
}

// differ is the error of a user whose terms are not those of the others.
func (t Terms) differ(others Terms) error {
	const want = "TypedOptions.%s is %v, and that of another typed cache of the namespace, not closed yet, %v: want the same"
	switch {
	case t.MaxBytes != others.MaxBytes:
		return fmt.Errorf(want, "MaxBytes", t.MaxBytes, others.MaxBytes)
	case t.ExpireAfterAccess != others.ExpireAfterAccess:
		return fmt.Errorf(want, "ExpireAfterAccess", t.ExpireAfterAccess, others.ExpireAfterAccess)
	}
	return nil
}
