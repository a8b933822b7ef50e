package httpcache

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
)

// maxVary is how many fields a response may vary by and be stored.
const maxVary = 16

// varyFields are the names of the fields that a response varies by, sorted. It is not ok if the
// response varies by what is no field of the request, or by more fields than maxVary.
func varyFields(h http.Header) (names []string, ok bool) {
	for member := range members(h["Vary"]) {
		if !isToken(member) || member == "*" {
			return nil, false
		}
		names = append(names, http.CanonicalHeaderKey(member))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, len(names) <= maxVary
}

// matches reports whether two requests have the same values of the fields.
func matches(names []string, a, b http.Header) bool {
	for _, name := range names {
		if normalized(name, a[name]) != normalized(name, b[name]) {
			return false
		}
	}
	return true
}

// normalized is a value of a field by which requests are compared: the members of all its
// lines, without the white space between them. Content codings and languages have no case.
func normalized(name string, lines []string) string {
	if len(lines) == 0 {
		return "\x00" // differs from an empty value
	}
	var b strings.Builder
	for rest := strings.Join(lines, ","); ; b.WriteByte(',') {
		end := memberEnd(rest)
		b.WriteString(strings.Trim(rest[:end], " \t"))
		if end == len(rest) {
			break
		}
		rest = rest[end+1:]
	}
	if name == "Accept-Encoding" || name == "Accept-Language" || name == "Accept-Charset" {
		return strings.ToLower(strings.ReplaceAll(b.String(), " ", ""))
	}
	return b.String()
}

// variantKey is the key of one of several responses of a URL: of the one for requests with such
// values of the fields. The id is that of the list of fields.
func variantKey(primary string, id bodyID, names []string, h http.Header) string {
	sum := sha256.New()
	write := func(s string) {
		var length [8]byte
		for i := range length {
			length[i] = byte(len(s) >> (8 * i))
		}
		sum.Write(length[:])
		sum.Write([]byte(s))
	}
	write(primary)
	for _, name := range names {
		write(name)
		write(normalized(name, h[name]))
	}
	return "v" + string(id[:]) + string(sum.Sum(nil))
}
