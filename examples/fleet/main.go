// Command fleet runs three processes of one HTTP service that share a server of Redis or
// Valkey, and tells what happens: that a price which is changed in one is seen in the others
// within milliseconds, and what the bound does when the network of one of them is cut.
//
//	fleet                       starts redis-server or valkey-server itself
//	fleet -server host:6379     uses one that runs, with keys that begin with "fleet:"
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"
)

// bound is how much older than the server a local answer may be.
const bound = time.Second

func main() {
	if served, err := serve(); err != nil {
		log.Fatal(err)
	} else if served {
		return
	}
	server := flag.String("server", "", "host:port of a server that runs; default: one is started")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *server); err != nil {
		log.Fatal("fleet: ", err)
	}
}

// run starts all, and tells the story.
func run(ctx context.Context, out io.Writer, server string) (err error) {
	name := "the server"
	if server == "" {
		var stop func()
		if server, name, stop, err = startServer(ctx); err != nil {
			return err
		}
		defer stop()
	}
	list := newPriceList()
	defer list.server.Close()
	f := &fleet{out: out, list: list}
	defer func() {
		for _, p := range f.processes {
			if failed := p.stop(); err == nil {
				err = failed
			}
		}
	}()
	for _, name := range []string{"A", "B", "C"} {
		p, err := startProcess(ctx, name, list.server.URL, server)
		if err != nil {
			return err
		}
		f.processes = append(f.processes, p)
	}
	fmt.Fprintf(out, "%s at %s, and three processes of one HTTP service: A, B and C\n", name, server)
	return f.tell(ctx)
}
