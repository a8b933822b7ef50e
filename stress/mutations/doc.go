// Package mutations takes guards out of the product, one at a time, and shows
// that a test fails without them: a test that cannot fail shows nothing.
//
// A mutation is a text of a source file and what takes its place. The tree stays
// as it is: the go command reads the changed file by way of an overlay. That each
// text is in its file, once, is looked at always, so that code which moves takes
// its mutations along.
//
//	cd stress && go test ./mutations                     the quick ones
//	cd stress && go test ./mutations -long               all of them
//	cd stress && go test ./mutations -long -run Mutations/NAME
//
// The go command does not see that the tests read other modules' files: after a
// change of those alone, -count=1 keeps it from printing an older result.
package mutations
