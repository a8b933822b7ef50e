package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/firncache/firn/remote/internal/command"
)

// ConnectError is why a connection could not be made.
type ConnectError struct {
	Addr string
	Err  error
}

func (e *ConnectError) Error() string { return "remote: " + e.Addr + ": " + e.Err.Error() }

// Unwrap is Err.
func (e *ConnectError) Unwrap() error { return e.Err }

// fatal is the error of a server that does not get better by waiting: of the options, or of the
// server's configuration.
type fatal struct{ err error }

func (f fatal) Error() string { return f.err.Error() }
func (f fatal) Unwrap() error { return f.err }

// Fatalf is an error that does not get better by waiting.
func Fatalf(format string, args ...any) error { return fatal{fmt.Errorf(format, args...)} }

// IsFatal reports whether an error does not get better by waiting.
func IsFatal(err error) bool {
	var f fatal
	return errors.As(err, &f)
}

// explain says of a connection that could not be made what is wrong, and whether waiting helps.
func explain(s *Settings, addr string, err error) error {
	user := s.Username
	if user == "" {
		user = "default"
	}
	switch {
	case IsFatal(err):
	case command.IsError(err, "WRONGPASS"), command.IsError(err, "NOAUTH"), strings.Contains(err.Error(), "without any password configured"):
		err = Fatalf("Options.Username, Password: user %q: %w", user, err)
	case strings.Contains(err.Error(), "NOPERM"):
		err = Fatalf("Options.Username: user %q lacks a right: %w", user, err)
	case command.IsError(err, "DENIED"):
		err = fatal{err}
	case isCertificate(err):
		err = Fatalf("Options.TLS: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %v, Options.DialTimeout", s.DialTimeout)
	}
	return &ConnectError{addr, err}
}

// isCertificate reports whether a TLS handshake has failed for what the options or the
// certificates are.
func isCertificate(err error) bool {
	var invalid *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &invalid) || errors.As(err, &header) || errors.As(err, &unknown) || isAlert(err)
}
