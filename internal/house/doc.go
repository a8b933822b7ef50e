// Package house holds the budgets of the source: the figures that grow by themselves
// unless a test holds them. It has tests and nothing else; they read the sources of all
// modules and build nothing.
//
//	go test ./internal/house            compares the sources with the tables in testdata
//	go test ./internal/house -update    writes the tables
//
// Some figures may rise, such as the lines of a package: -update raises them, and the commit
// says why. The others never rise: -update refuses, and the failure says what to do instead.
// A gain stays: a figure of the second kind that has fallen, and one of the first kind that
// has fallen by more than 5 %, fails until -update has lowered its row. Where an exception is
// renamed or moves to another room, its row in the table is renamed by hand.
//
// # Words
//
//   - room: a package, apart from tools.
//   - tool: a module or package around the product: bench, stress, examples, .ci.
//   - knot: the largest group of a room's files in which each uses each other, directly or
//     through others of the group. Such files can only be understood together.
//   - half: a file that declares a type with methods of its own and adds methods to a type
//     of another file, so that neither type is whole anywhere.
//   - puzzle: a name or a comment that needs a table to be understood: TestFault12, Row 12.
//   - home: the one file in which a pattern may stand.
//   - seam: an exported name of an internal package that only tests use.
//   - exception: a row of a table whose figures never rise.
//
// # Files
//
//   - tree_test.go: the parsed sources. budget_test.go: tables, and how they are held.
//   - rooms_test.go: files, lines and knots; knot_test.go: how a knot is found.
//   - halves_test.go, small_test.go: files of two ideas, and of less than one.
//   - lists_test.go: the lists of files in doc.go, which have no exceptions.
//   - pages_test.go, words_test.go: bytes of documents, dialect in comments.
//   - cases_test.go: tests that are long, puzzling, or in the root.
//   - homes_test.go, seams_test.go: what stands in too many files, what only tests use.
package house
