package httpcache

import "strings"

// parseTargeted reads the dictionary of a targeted field such as CDN-Cache-Control, RFC 9213. An
// empty one, or one that is no dictionary, is as good as none. A directive whose value has
// the wrong type is ignored.
func parseTargeted(s string) (c control, ok bool) {
	c = noControl
	p := sfParser{strings.Trim(s, " ")}
	for p.s != "" {
		name, item, ok := p.member()
		if !ok {
			return noControl, false
		}
		c.addItem(name, item)
		if p.spaces(); p.s == "" {
			return c, true
		}
		if !p.skip(',') {
			return noControl, false
		}
		if p.spaces(); p.s == "" { // a comma at the end
			return noControl, false
		}
	}
	return noControl, false
}

// sfKind is the type of a bare item of structured fields, RFC 9651.
type sfKind uint8

const (
	sfOther sfKind = iota // decimals, bytes, dates and inner lists, which no directive has
	sfInteger
	sfString
	sfToken
	sfTrue
	sfFalse
)

type sfItem struct {
	kind   sfKind
	number int64
}

// sfParser takes what it reads off s.
type sfParser struct{ s string }

func (p *sfParser) skip(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *sfParser) spaces() { p.s = strings.TrimLeft(p.s, " \t") }

// take takes the bytes that have is true for.
func (p *sfParser) take(have func(c byte) bool) string {
	n := 0
	for n < len(p.s) && have(p.s[n]) {
		n++
	}
	taken := p.s[:n]
	p.s = p.s[n:]
	return taken
}

// member takes a member of a dictionary: a key, and a value with parameters.
func (p *sfParser) member() (name string, item sfItem, ok bool) {
	if name, ok = p.key(); !ok {
		return "", item, false
	}
	item.kind = sfTrue
	if p.skip('=') {
		if strings.HasPrefix(p.s, "(") {
			item, ok = p.innerList()
		} else {
			item, ok = p.item()
		}
	}
	return name, item, ok && p.parameters()
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (p *sfParser) key() (string, bool) {
	if p.s == "" || !isLower(p.s[0]) && p.s[0] != '*' {
		return "", false
	}
	return p.take(func(c byte) bool { return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0 }), true
}

func (p *sfParser) parameters() bool {
	for p.skip(';') {
		p.s = strings.TrimLeft(p.s, " ")
		if _, ok := p.key(); !ok {
			return false
		}
		if p.skip('=') {
			if _, ok := p.item(); !ok {
				return false
			}
		}
	}
	return true
}

func (p *sfParser) innerList() (sfItem, bool) {
	p.skip('(')
	for {
		p.s = strings.TrimLeft(p.s, " ")
		if p.skip(')') {
			return sfItem{}, true
		}
		if _, ok := p.item(); !ok || !p.parameters() {
			return sfItem{}, false
		}
		if p.s == "" || p.s[0] != ' ' && p.s[0] != ')' {
			return sfItem{}, false
		}
	}
}

// item takes a bare item.
func (p *sfParser) item() (sfItem, bool) {
	if p.s == "" {
		return sfItem{}, false
	}
	switch c := p.s[0]; {
	case c == '-' || isDigit(c):
		return p.number()
	case c == '"':
		return sfItem{kind: sfString}, p.str()
	case c == '?':
		return p.boolean()
	case c == ':':
		return sfItem{}, p.enclosed(':')
	case c == '@':
		p.skip('@')
		_, ok := p.number()
		return sfItem{}, ok
	case c == '*' || isLower(c|0x20):
		p.take(func(c byte) bool { return isTokenByte(c) || c == ':' || c == '/' })
		return sfItem{kind: sfToken}, true
	}
	return sfItem{}, false
}

// number takes an integer of at most 15 digits, or a decimal of at most 12 and 3.
func (p *sfParser) number() (item sfItem, ok bool) {
	negative := p.skip('-')
	digits := p.take(isDigit)
	if digits == "" || len(digits) > 15 {
		return item, false
	}
	if p.skip('.') {
		fraction := p.take(isDigit)
		return item, len(digits) <= 12 && fraction != "" && len(fraction) <= 3
	}
	for _, c := range []byte(digits) {
		item.number = item.number*10 + int64(c-'0')
	}
	if item.kind = sfInteger; negative {
		item.number = -item.number
	}
	return item, true
}

func (p *sfParser) str() bool {
	p.skip('"')
	for p.s != "" {
		switch c := p.s[0]; {
		case c == '"':
			return p.skip('"')
		case c == '\\':
			if len(p.s) < 2 || p.s[1] != '"' && p.s[1] != '\\' {
				return false
			}
			p.s = p.s[2:]
		case c < ' ' || c > '~':
			return false
		default:
			p.s = p.s[1:]
		}
	}
	return false
}

func (p *sfParser) boolean() (sfItem, bool) {
	p.skip('?')
	switch {
	case p.skip('1'):
		return sfItem{kind: sfTrue}, true
	case p.skip('0'):
		return sfItem{kind: sfFalse}, true
	}
	return sfItem{}, false
}

// enclosed takes bytes in base64 between two delimiters.
func (p *sfParser) enclosed(delimiter byte) bool {
	p.skip(delimiter)
	p.take(func(c byte) bool { return isLower(c|0x20) || isDigit(c) || strings.IndexByte("+/=", c) >= 0 })
	return p.skip(delimiter)
}
