package format

import (
	"math/rand/v2"
	"testing"
)

// TestClass: a class has all bytes of its record wherever that begins, and no sector more where
// they are few.
func TestClass(t *testing.T) {
	l := Layout{LocationBits: 30, UnitShift: MinUnitShift}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		bytes := 1 + rng.IntN(1<<(1+rng.IntN(19)))
		loc := Location(1 + rng.IntN(1<<20))
		e := l.NewEntry(1, loc, bytes, IsWhole)
		n, bounded := l.MaxBytes(e)
		off := l.offset(loc) % sectorBytes
		sectors := (off + bytes + sectorBytes - 1) / sectorBytes
		read := (off + n) / sectorBytes
		switch {
		case bounded != (sectors <= classSectors[longClass-1]):
			t.Fatalf("%d bytes at %d: bounded: %v", bytes, off, bounded)
		case !bounded:
		case n < bytes || (off+n)%sectorBytes != 0:
			t.Fatalf("%d bytes at %d of a sector: at most %d, to byte %d of one", bytes, off, n, (off+n)%sectorBytes)
		case sectors <= 4 && read != sectors || read >= 2*sectors:
			t.Fatalf("%d bytes at %d of a sector lie in %d: %d are read", bytes, off, sectors, read)
		}
	}
	for k, class := range map[Kind]int{IsPart: PartClass, IsHead: HeadClass} {
		if e := l.NewEntry(1, 1, 1<<20, k); e.Class() != class {
			t.Errorf("kind %d has class %d, want %d", k, e.Class(), class)
		}
	}
	for class := 1; class <= longClass; class++ {
		if Weight(class) <= Weight(class-1) {
			t.Errorf("class %d weighs %d, the one below %d", class, Weight(class), Weight(class-1))
		}
	}
}
