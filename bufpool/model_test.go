package bufpool

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// owned is the obvious model of a lent buffer: its contents, the number of
// references, and the mark that fills its spare memory.
type owned struct {
	b    *Buffer
	want []byte
	refs int
	mark byte
}

// paint fills the spare memory with the buffer's mark, so that another live
// buffer that shares a byte of it is found by inspect.
func (o *owned) paint() {
	for i := o.b.end; i < len(o.b.mem); i++ {
		o.b.mem[i] = o.mark
	}
}

func (o *owned) inspect(t *rapid.T) {
	if got := o.b.Bytes(); !bytes.Equal(got, o.want) {
		t.Fatalf("contents are %d bytes %.20x, expected %d bytes %.20x", len(got), got, len(o.want), o.want)
	}
	if o.b.Len() != len(o.want) || o.b.Cap() < len(o.want) {
		t.Fatalf("Len %d, Cap %d, expected length %d", o.b.Len(), o.b.Cap(), len(o.want))
	}
	for i := o.b.end; i < len(o.b.mem); i++ {
		if o.b.mem[i] != o.mark {
			t.Fatalf("spare byte %d of %d was overwritten from outside", i, len(o.b.mem))
		}
	}
}

// machine runs one command at a time against the pool and the model.
type machine struct {
	pool *Pool
	live []*owned
	made byte
}

func (m *machine) pick(t *rapid.T) *owned {
	if len(m.live) == 0 {
		t.Skip("no live buffer")
	}
	return m.live[rapid.IntRange(0, len(m.live)-1).Draw(t, "buffer")]
}

// sole picks a buffer that may be changed.
func (m *machine) sole(t *rapid.T) *owned {
	o := m.pick(t)
	if o.refs > 1 {
		t.Skip("shared")
	}
	return o
}

func (m *machine) lend(b *Buffer, want []byte) {
	m.made++
	o := &owned{b: b, want: want, refs: 1, mark: m.made}
	o.paint()
	m.live = append(m.live, o)
}

func (m *machine) Get(t *rapid.T) {
	n := rapid.IntRange(0, 5000).Draw(t, "n")
	b := m.pool.Get(n)
	if b.Len() != 0 || b.Cap() < n || cap(b.Bytes()) != b.Cap() {
		t.Fatalf("Get(%d): length %d, capacity %d, of Bytes %d", n, b.Len(), b.Cap(), cap(b.Bytes()))
	}
	m.lend(b, nil)
}

func (m *machine) ReadAll(t *rapid.T) {
	data := bytesOf(t, 6000)
	hint := rapid.Int64Range(-1, 7000).Draw(t, "hint")
	b, err := m.pool.ReadAll(readerOf(t, data), hint)
	if err != nil {
		t.Fatal(err)
	}
	m.lend(b, data)
}

func (m *machine) Write(t *rapid.T) {
	o, data := m.sole(t), bytesOf(t, 3000)
	if n, err := o.b.Write(data); n != len(data) || err != nil {
		t.Fatal(n, err)
	}
	o.want = append(o.want, data...)
	o.paint()
}

func (m *machine) WriteItself(t *rapid.T) {
	o := m.sole(t)
	from := rapid.IntRange(0, len(o.want)).Draw(t, "from")
	if _, err := o.b.Write(o.b.Bytes()[from:]); err != nil {
		t.Fatal(err)
	}
	o.want = append(o.want, o.want[from:]...)
	if len(o.want) > 20000 {
		o.b.Reset()
		o.want = nil
	}
	o.paint()
}

func (m *machine) ReadFrom(t *rapid.T) {
	o, data := m.sole(t), bytesOf(t, 3000)
	if n, err := o.b.ReadFrom(readerOf(t, data)); n != int64(len(data)) || err != nil {
		t.Fatal(n, err)
	}
	o.want = append(o.want, data...)
	o.paint()
}

func (m *machine) Extend(t *rapid.T) {
	o, data := m.sole(t), bytesOf(t, 1000)
	p, err := o.b.Extend(len(data))
	if err != nil || len(p) != len(data) || cap(p) != len(data) {
		t.Fatal(len(p), cap(p), err)
	}
	copy(p, data)
	o.want = append(o.want, data...)
	o.paint()
}

func (m *machine) Grow(t *rapid.T) {
	o, n := m.sole(t), rapid.IntRange(0, 4000).Draw(t, "n")
	if err := o.b.Grow(n); err != nil || o.b.Cap()-o.b.end < n {
		t.Fatal(err, o.b.Cap(), o.b.end, n)
	}
	o.paint()
}

func (m *machine) Read(t *rapid.T) {
	o := m.sole(t)
	p := make([]byte, rapid.IntRange(1, 2000).Draw(t, "n"))
	n, err := o.b.Read(p)
	if len(o.want) == 0 && err != io.EOF {
		t.Fatalf("Read of an empty buffer: %d, %v", n, err)
	}
	if !bytes.Equal(p[:n], o.want[:n]) || n != min(len(p), len(o.want)) {
		t.Fatalf("Read gave %d bytes %.20x", n, p[:n])
	}
	o.want = o.want[n:]
	o.paint()
}

func (m *machine) Next(t *rapid.T) {
	o, n := m.sole(t), rapid.IntRange(0, 2000).Draw(t, "n")
	p := o.b.Next(n)
	if want := o.want[:min(n, len(o.want))]; !bytes.Equal(p, want) || cap(p) != len(p) {
		t.Fatalf("Next(%d) gave %d bytes %.20x, with capacity %d", n, len(p), p, cap(p))
	}
	o.want = o.want[len(p):]
	o.paint()
}

func (m *machine) String(t *rapid.T) {
	if o := m.pick(t); o.b.String() != string(o.want) {
		t.Fatalf("String gave %.20x", o.b.String())
	}
}

func (m *machine) Clone(t *rapid.T) {
	o := m.pick(t)
	m.lend(o.b.Clone(), bytes.Clone(o.want))
}

func (m *machine) WriteTo(t *rapid.T) {
	o := m.sole(t)
	var out bytes.Buffer
	if n, err := o.b.WriteTo(&out); n != int64(len(o.want)) || err != nil || !bytes.Equal(out.Bytes(), o.want) {
		t.Fatal(n, err)
	}
	o.want = nil
	o.paint()
}

func (m *machine) Truncate(t *rapid.T) {
	o := m.sole(t)
	n := rapid.IntRange(0, len(o.want)).Draw(t, "n")
	if err := o.b.Truncate(n); err != nil {
		t.Fatal(err)
	}
	o.want = o.want[:n:n]
	o.paint()
}

func (m *machine) Reset(t *rapid.T) {
	o := m.sole(t)
	o.b.Reset()
	o.want = nil
	o.paint()
}

func (m *machine) Retain(t *rapid.T) {
	o := m.pick(t)
	o.b.Retain()
	o.refs++
}

func (m *machine) Release(t *rapid.T) {
	o := m.pick(t)
	o.inspect(t)
	o.b.Release()
	if o.refs--; o.refs == 0 {
		for i := range m.live {
			if m.live[i] == o {
				m.live = append(m.live[:i], m.live[i+1:]...)
				return
			}
		}
	}
}

func (m *machine) Check(t *rapid.T) {
	for _, o := range m.live {
		o.inspect(t)
	}
	inUse, bytes := 0, int64(0)
	for _, s := range m.pool.Stats() {
		inUse += s.InUse
		bytes += s.Bytes
	}
	if inUse != len(m.live) || bytes != m.pool.Bytes() {
		t.Fatalf("Stats: %d in use and %d bytes, expected %d and %d", inUse, bytes, len(m.live), m.pool.Bytes())
	}
}

func bytesOf(t *rapid.T, most int) []byte {
	n := rapid.IntRange(0, most).Draw(t, "length")
	seed := rapid.Byte().Draw(t, "seed")
	data := make([]byte, n)
	for i := range data {
		data[i] = seed + byte(i*7)
	}
	return data
}

func readerOf(t *rapid.T, data []byte) io.Reader {
	r := io.Reader(bytes.NewReader(data))
	switch rapid.IntRange(0, 5).Draw(t, "reader") {
	case 1:
		return iotest.HalfReader(r)
	case 2:
		return iotest.DataErrReader(r)
	case 3:
		return io.LimitReader(r, int64(len(data)))
	case 4:
		return iotest.OneByteReader(r)
	case 5:
		return bytes.NewBuffer(data)
	}
	return r
}

func TestModel(t *testing.T) {
	for name, o := range modelPools {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				t.Repeat(rapid.StateMachineActions(&machine{pool: p}))
			})
		})
	}
}

var modelPools = map[string]Options{
	"default":  {},
	"tiny":     {Levels: []Level{{Size: 1}, {Size: 3}, {Size: 64}, {Size: 100}, {Size: 1000}}},
	"ceilings": {Levels: []Level{{Size: 128, MaxBytes: 256}, {Size: 2048}}, MaxBytes: 4096},
	"checked":  {Levels: []Level{{Size: 128}, {Size: 2048}}, Checked: true},
	"off-heap": {Levels: []Level{{Size: 100, OffHeap: true}, {Size: 4096, OffHeap: true}}, MaxBytes: 1 << 16},
}
