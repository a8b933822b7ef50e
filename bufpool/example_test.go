package bufpool_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/firncache/firn/bufpool"
)

func ExampleGet() {
	b := bufpool.Get(100)
	defer b.Release()
	fmt.Fprintf(b, "hello, %s", "world")
	fmt.Println(string(b.Bytes()), b.Len(), b.Cap() >= 100)
	// Output: hello, world 12 true
}

func ExampleReadAll() {
	// As http.Get returns it. ContentLength is -1 when the server did not say.
	resp := &http.Response{Body: io.NopCloser(strings.NewReader("the body")), ContentLength: 8}
	defer resp.Body.Close()

	body, err := bufpool.ReadAll(resp.Body, resp.ContentLength)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer body.Release()
	fmt.Printf("%s\n", body.Bytes())
	// Output: the body
}

func ExampleReadAllN() {
	_, err := bufpool.ReadAllN(strings.NewReader("far too much"), -1, 4)
	fmt.Println(errors.Is(err, bufpool.ErrTooLarge))
	fmt.Println(err)
	// Output:
	// true
	// bufpool: too large: the stream has more than 4 bytes
}

func ExampleCopy() {
	n, err := bufpool.Copy(os.Stdout, strings.NewReader("copied\n"))
	fmt.Println(n, err)
	// Output:
	// copied
	// 7 <nil>
}

func ExampleBuffer_Retain() {
	b := bufpool.Get(64)
	b.WriteString("read by two")
	done := make(chan bool)
	go func(b *bufpool.Buffer) {
		defer b.Release()
		done <- b.Len() == 11
	}(b.Retain())
	fmt.Println(<-done)
	b.Release()
	// Output: true
}

func ExampleBuffer_Next() {
	b := bufpool.Get(64)
	defer b.Release()
	b.WriteString("GETkey")
	command := b.Next(3)
	fmt.Printf("%s %s\n", command, b)
	// Output: GET key
}

func ExampleBuffer_Clone() {
	b := bufpool.Get(64)
	b.WriteString("shared")
	b.Retain() // by another owner: b is read-only now
	own := b.Clone()
	own.WriteString(", and changed")
	b.Release()
	b.Release()
	fmt.Println(own)
	own.Release()
	// Output: shared, and changed
}

func ExampleBuffer_Extend() {
	file := strings.NewReader("0123456789") // or any io.ReaderAt
	b := bufpool.Get(4)
	defer b.Release()
	p, err := b.Extend(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	file.ReadAt(p, 3)
	fmt.Printf("%s\n", b.Bytes())
	// Output: 3456
}

func ExampleNew() {
	pool, err := bufpool.New(bufpool.Options{
		Levels: []bufpool.Level{
			{Size: 1 << 10},
			{Size: 16 << 10, MaxBytes: 1 << 20},
			{Size: 4 << 20, OffHeap: true},
		},
		MaxBytes: 64 << 20,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := pool.Get(3000)
	fmt.Println(b.Cap())
	b.Release()
	for _, s := range pool.Stats() {
		fmt.Println(s.Size, s.InUse, s.Idle, s.Misses)
	}
	// Output:
	// 16384
	// 1024 0 0 0
	// 16384 0 1 1
	// 4194304 0 0 0
	// 0 0 0 0
}

func ExamplePool_Leaks() {
	pool, err := bufpool.New(bufpool.Options{Checked: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := pool.Get(100)
	leaks := pool.Leaks()
	fmt.Println(len(leaks), strings.Contains(leaks[0].Stack, "ExamplePool_Leaks"))
	b.Release()
	fmt.Println(len(pool.Leaks()))
	// Output:
	// 1 true
	// 0
}
