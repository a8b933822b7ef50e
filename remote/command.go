package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// builder makes commands. The transport gives one with a client only, and a client without a
// connection will do.
var builder = func() rueidis.Builder {
	refuse := func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
		return nil, errors.ErrUnsupported
	}
	c, _ := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"none"}, ForceSingleClient: true, PipelineMultiplex: -1, DisableRetry: true, DialCtxFn: refuse,
	})
	return c.B()
}()

// command is a command with its arguments. It can be sent once.
func command(args ...string) rueidis.Completed { return builder.Arbitrary(args...).Build() }

// isCertificate reports whether a TLS handshake has failed for what the options or the
// certificates are.
func isCertificate(err error) bool {
	var invalid *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var alert tls.AlertError
	return errors.As(err, &invalid) || errors.As(err, &header) || errors.As(err, &unknown) || errors.As(err, &alert)
}

// infoField is a line "name:value" of INFO.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// getRange reads n bytes of a key.
func getRange(name string, from, n int) rueidis.Completed {
	return command("GETRANGE", name, strconv.Itoa(from), strconv.Itoa(from+n-1))
}

// globEscape is a pattern that matches s alone.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(s)
}
