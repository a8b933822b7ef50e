package report

const intro = `# Benchmarks

This page is written by a program: ` + "`cd bench && go run . report -in DIR -doc ../docs/BENCHMARKS.md`" + `
turns the results of the suites into the tables below. The same results as one page with charts: DIR/report.html, which ` + "`go run . -suite NAME -out DIR`" + ` leaves there;
` + "`-compare old.json`" + ` sets an earlier run beside the new one. ` + "`-suite all`" + ` takes about an hour on two processors, ` + "`-suite quick`" + ` runs all in small within three minutes.
Rows that firn loses stay in; ratios below 1 are bold.

How the figures are made:

- **Two caches take turns in one process**: firn, rival, firn, rival, with the same keys in the same order. A ratio is taken between two neighbouring turns;
  the tables give the median over the repeats and, in brackets, the quartiles. Absolute times come with the machine; ratios are what to trust.
- **One loop for all.** Keys lie ready in the order of their use, so that making a key costs every cache the same. Each operation is one call through one interface.
  Each value that is read is touched; a cache that copies writes into a reused buffer. The first quarter turn of each cell warms both caches up and does not count.
- **Garbage is on the house.** The garbage collector is off during the turns and runs between them, outside the clock, when 2 GiB have piled up. That favours caches
  that allocate; the section on memory shows what the collector costs them.
- **The budget fits all entries**, with half as much again to spare. Hit ratios are printed beside the times: a cache that drops entries shows it.
- **Misses, refused Sets and dropped entries are counted** for every cache; DIR/SUITE.json and the page with charts have them.
- **Noise is measured**: the processor time of all other programs during each suite. Above 5 %% of all processors the suite is called noisy.
- **fastcache's own benchmark runs with GOMAXPROCS=4**, as the articles about it do, whatever the machine has.
- **Traces** for the suite hitratio are those in the directory FIRN_TRACES, without it a generated set.
- The same results as Go benchmark lines lie in DIR/SUITE.txt: ` + "`benchstat -col /cache -filter /pair:fastcache DIR/ram.txt`" + `.

`

const targetsText = `Ratios are operations per second of firn over those of the rival named, in the same cell. "g" is the number of goroutines.

`

const classicText = `The loops of fastcache's timing tests: 65,536 items, keys and values of 4 bytes, keys in ascending order, four goroutines at GOMAXPROCS=4, every value compared.
Nanoseconds for each item, elapsed time over the items of all goroutines; multiply by 65.536 for the µs per operation that ` + "`go test -bench`" + ` prints there
(` + "`go test -bench Classic`" + ` in bench does so for all caches). Each cache has 32 MiB, which is what fastcache makes of its own benchmark's size.

`

const matrixText = `Keys of 16 bytes, values of 64. "zipf" draws keys with exponent 0.99, "uniform" evenly, "absent" are keys that were never stored; "mix" is 19 Gets, then a Set;
"set" overwrites with a value of the same size; "getbatch" and "setbatch" are GetMulti and SetMulti of 32 keys beside single Gets and Sets of the rival.
Nanoseconds are elapsed time over all operations of all goroutines.

`

const largeText = `The same with values of 1024 bytes and a tenth of the entries. Caches on the heap lend the stored slice, without a copy; firn and the other byte caches copy all of it.

`

const memoryText = `Each cache in a process of its own, with keys of 16 and values of 64 bytes. Overhead is the growth of resident memory after a full collection, index and unused space included, for each entry.
The allocating load is one goroutine that makes blocks of 1 KiB, of which 64 MiB stay alive; the share is of all processors' time, and a load that is held up makes less garbage.
For the slowest Set the cache has room for about the entries of the run and goes on storing new ones (caches without a limit delete the oldest first): the median of the
slowest in each of five rounds, and the worst; "nothing" is the longest gap
between two readings of the clock in up to a second: what the machine itself does.

`

const readableText = `A cache of 32 MiB, half filled with large values, then all of them read back and compared.

`

const rivalsText = `Caches on the heap hold arrays where that is possible ([16]byte → [64]byte, [4]byte → [4]byte), [16]byte → []byte with 1 KiB values, and string → []byte elsewhere.

`
