package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firncache/firn/internal/shared"
)

// The defaults of Options, and its limits.
const (
	DefaultStaleness     = time.Second
	DefaultTimeout       = 250 * time.Millisecond
	DefaultDialTimeout   = time.Second
	DefaultLeaseTime     = 3 * time.Second
	DefaultMaxValueBytes = 8 << 20
	DefaultCompressAbove = 1 << 10

	MinStaleness     = 50 * time.Millisecond
	MaxNamespaceLen  = 128
	MaxMaxValueBytes = 128 << 20
)

// Options describe a shared tier. Addrs and Namespace are required.
type Options struct {
	// Addrs are the servers, each "host:port", or "host" for port 6379. One that is not in
	// cluster mode is the only one; of a cluster, some of its servers, which name the others.
	// For a Unix socket it is any name, and Dial connects to the socket.
	Addrs []string

	// Namespace begins the name of every key on the server, as "namespace:". Caches with the
	// same one share their entries: they are to agree on what the values mean. 1 to 128 bytes
	// of UTF-8, without ':', '{', '}', white space and control characters.
	Namespace string

	// Database is the number of the database, which must be 0: the servers' pushes do not
	// say which database a changed key is from.
	Database int

	// Staleness is the bound: a read that the local tiers answer returns a value at least as new
	// as the server had it so long ago, whatever happens to the network. At least 50 ms.
	// Every fifth of it, the server has to give a sign of life. In a cluster the bound is longer
	// while a primary is replaced that was cut off with a minority of the others: it goes on
	// answering until its cluster-node-timeout, which is to be added. Default: 1 s.
	Staleness time.Duration

	// Username and Password are those of the server's ACL; without a user, the default one's.
	// It needs the commands and keys that the package's documentation lists.
	Username, Password string

	// TLS, if set, encrypts the connections. Without its ServerName, the address's host is
	// what the certificate has to be of. It is not changed while the tier is open.
	TLS *tls.Config

	// Timeout is how long a request may take at most; then it fails with
	// firn.ErrSharedUnavailable. A context may end it before. One that writes has it for each
	// started MiB; a long value is read in requests of 256 KiB, a batch in requests of up to 256
	// keys. Default: 250 ms.
	Timeout time.Duration

	// SoftTimeout is how long the check of a suspect copy is waited for if Degraded lets the
	// copy be the answer, in reads of one key that load nothing: batches and GetOrLoad wait
	// for Timeout. Default 0: Timeout.
	SoftTimeout time.Duration

	// DialTimeout is how long a connection may take to be made, with its handshakes, and
	// firn.Open at most for each of Addrs. Default: 1 s.
	DialTimeout time.Duration

	// CopyTTL is how long a copy in the local tiers lives at most. Without a feed (see Stats'
	// Tracking), which old servers and some proxies do not have, it is the only bound there
	// is; without it too, there are no copies then. Default 0: as long as the entry.
	CopyTTL time.Duration

	// TTL is how long an entry stays on the server at most. Default 0: as long as the entry
	// lives, which is for ever without a deadline: then the server needs a maxmemory-policy
	// that evicts.
	TTL time.Duration

	// MaxValueBytes is the longest value that is written or read, in bytes, before it is
	// compressed: up to 128 MiB. Default: 8 MiB.
	MaxValueBytes int

	// CompressAbove is the length in bytes from which on values are compressed on the server,
	// with S2, where that saves an eighth or more. -1: none. Default: 1 KiB.
	CompressAbove int

	// Degraded is what a read does with a suspect copy, which is not known to be within the
	// bound, while the server is away. Default: DegradedMiss; what GetOrLoad loads then is
	// kept for Staleness from the start of its loader, so that the source has one load in that time.
	Degraded Degraded

	// Leases says whether processes that miss the same key wait for one of them to load it.
	// Default: LeasesAuto.
	Leases Leases

	// LeaseTime is how long a process that loads a key has others wait at most. It extends its lease
	// while it loads; one that was killed is waited for no longer. On the server each lease lives 200 µs
	// longer for every other that the process holds, so that all are extended in time. Without leases, it
	// is how long a removal is remembered: a load that takes longer, and has begun before, may
	// store what was removed. All processes should have the same. Default: 3 s.
	LeaseTime time.Duration

	// Dial, if set, makes the connections, to "host:port": for proxies, and in tests. TLS is
	// added to what it returns. It has to be safe for concurrent use, and to obey the context.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Log gets what happens to the connections. Default: slog.Default().
	Log *slog.Logger
}

// Degraded is what a read does with a copy that cannot be checked.
type Degraded uint8

// The ways.
const (
	DegradedMiss  Degraded = iota // it is missing: a load fetches the value
	DegradedStale                 // it is the answer, as long as it lives
	DegradedError                 // the read fails with firn.ErrSharedUnavailable
)

// String is the way's name: miss, stale or error.
func (d Degraded) String() string { return shared.Degraded(d).String() }

// MarshalText is the way's name.
func (d Degraded) MarshalText() ([]byte, error) { return shared.Degraded(d).MarshalText() }

// UnmarshalText takes "miss", "stale" or "error".
func (d *Degraded) UnmarshalText(text []byte) error { return (*shared.Degraded)(d).UnmarshalText(text) }

// Validate returns an error that names the field, its value and what is wanted, if Open would.
func (o Options) Validate() error {
	if err := o.validateNames(); err != nil {
		return err
	}
	if err := o.validateDurations(); err != nil {
		return err
	}
	switch {
	case o.Database != 0:
		return optionError("Database", o.Database, "0: pushes do not say which database a changed key is from")
	case o.MaxValueBytes < 0 || o.MaxValueBytes > MaxMaxValueBytes:
		return optionError("MaxValueBytes", o.MaxValueBytes, "1 to 134217728, or 0 for 8 MiB")
	case o.CompressAbove < -1:
		return optionError("CompressAbove", o.CompressAbove, "a number of bytes, 0 for 1 KiB, or -1 for none")
	case o.Degraded > DegradedError:
		return optionError("Degraded", uint8(o.Degraded), "DegradedMiss, DegradedStale or DegradedError")
	case o.Leases > LeasesOff:
		return optionError("Leases", uint8(o.Leases), "LeasesAuto, LeasesOn or LeasesOff")
	}
	return nil
}

func (o Options) validateNames() error {
	if len(o.Addrs) == 0 {
		return optionError("Addrs", o.Addrs, `at least one "host:port"`)
	}
	for i, a := range o.Addrs {
		if _, err := hostPort(a); err != nil {
			return optionErrorAt("Addrs", i, a, err.Error())
		}
	}
	if n := len(o.Namespace); n == 0 || n > MaxNamespaceLen || !utf8.ValidString(o.Namespace) || hasForbidden(o.Namespace) {
		return optionError("Namespace", o.Namespace, "1 to 128 bytes of UTF-8 without ':', '{', '}', white space and control characters")
	}
	if o.Username != "" && o.Password == "" {
		return optionError("Password", o.Password, "the password of Username "+o.Username)
	}
	return nil
}

func (o Options) validateDurations() error {
	if o.Staleness != 0 && o.Staleness < MinStaleness {
		return optionError("Staleness", o.Staleness, "at least 50ms, or 0 for 1s")
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Timeout", o.Timeout}, {"SoftTimeout", o.SoftTimeout}, {"LeaseTime", o.LeaseTime}, {"DialTimeout", o.DialTimeout}, {"CopyTTL", o.CopyTTL}, {"TTL", o.TTL}} {
		if d.value < 0 || d.value > 0 && d.value < time.Millisecond {
			return optionError(d.name, d.value, "at least 1ms, or 0 for the default")
		}
	}
	return nil
}

// withDefaults fills in what is not set. Addrs get their port.
func (o Options) withDefaults() Options {
	addrs := make([]string, len(o.Addrs))
	for i, a := range o.Addrs {
		addrs[i], _ = hostPort(a)
	}
	o.Addrs = addrs
	def(&o.Staleness, DefaultStaleness)
	def(&o.Timeout, DefaultTimeout)
	o.Staleness, o.Timeout = min(o.Staleness, noEnd), min(o.Timeout, noEnd)
	def(&o.DialTimeout, DefaultDialTimeout)
	def(&o.LeaseTime, DefaultLeaseTime)
	def(&o.MaxValueBytes, DefaultMaxValueBytes)
	def(&o.CompressAbove, DefaultCompressAbove)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// noEnd is what stands for no end: multiples of it, and the time of day with it, are durations.
const noEnd = 365 * 24 * time.Hour

func def[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// hostPort is an address with its port.
func hostPort(addr string) (string, error) {
	if strings.Contains(addr, "://") {
		return "", errors.New(`"host:port", no URL: user, password and TLS have options of their own`)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil && !strings.HasPrefix(addr, "[") && !strings.Contains(addr, ":") {
		host, port, err = addr, "6379", nil
	}
	if err != nil || host == "" || strings.ContainsAny(host, "/@") || strings.IndexFunc(host, unicode.IsSpace) >= 0 {
		return "", errors.New(`"host:port", or "host" for port 6379; Dial reaches a Unix socket`)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New(`"host:port" with a port from 1 to 65535`)
	}
	return net.JoinHostPort(host, port), nil
}

func hasForbidden(namespace string) bool {
	return strings.ContainsAny(namespace, ":{}") ||
		strings.IndexFunc(namespace, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0
}
