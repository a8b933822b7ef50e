//go:build !unix

package servertest

import "errors"

func (p *process) freeze() error    { return errors.ErrUnsupported }
func (p *process) thaw() error      { return errors.ErrUnsupported }
func (p *process) terminate() error { return errors.ErrUnsupported }
