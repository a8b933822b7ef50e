package link

import (
	"context"
	"fmt"
	"strings"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/redis/rueidis"
)

// inspect checks what a new connection's server is, and whether the user may do what the tier
// has to.
func (c *Conn) inspect(ctx context.Context) (s Server, err error) {
	if s, err = c.identify(ctx); err != nil {
		return s, err
	}
	if err = c.tryRights(ctx, s); err != nil {
		return s, err
	}
	if !s.Clustered { // where there is one database
		c.token = c.readToken(ctx)
	}
	s.Can, s.Refused, err = c.learn(ctx)
	return s, err
}

// identify is of HELLO, or of INFO where there is none.
func (c *Conn) identify(ctx context.Context) (s Server, err error) {
	says, err := c.client.Do(ctx, command.New("INFO", "server")).ToString()
	if err != nil {
		return s, err
	}
	s.Name, s.Version = "redis", command.InfoField(says, "redis_version")
	if v := command.InfoField(says, "valkey_version"); v != "" {
		s.Name, s.Version = "valkey", v
	}
	mode := command.InfoField(says, "redis_mode")
	if mode == "sentinel" {
		return s, Fatalf("is a sentinel: want the address of a primary")
	}
	role, err := c.client.Do(ctx, command.New("INFO", "replication")).ToString()
	if err != nil {
		return s, err
	}
	says, err = c.client.Do(ctx, command.New("INFO", "cluster")).ToString()
	s.Clustered = mode == "cluster" || err == nil && command.InfoField(says, "cluster_enabled") == "1"
	if command.InfoField(role, "role") == "slave" && !s.Clustered {
		return s, Fatalf("is a replica: want the address of a primary")
	}
	return s, nil
}

// tryRights tries the commands that the tier uses, on a key that does not exist. None changes
// anything.
func (c *Conn) tryRights(ctx context.Context, s Server) error {
	k := c.Names.Probe()
	tries := [][]string{
		{"PING"}, {"GETRANGE", k, "0", "0"}, {"SET", k, "", "XX", "PX", "1000"}, {"UNLINK", k},
		{"SCAN", "0", "MATCH", command.AllNames(k), "COUNT", "1"},
	}
	if c.Leases {
		tries = append(tries, []string{"PTTL", k})
	}
	if s.Clustered {
		tries = append(tries, []string{"CLUSTER", "MYID"}, []string{"CLUSTER", "INFO"}, []string{"CLUSTER", "SLOTS"})
	}
	cmds := make([]rueidis.Completed, len(tries))
	for i, try := range tries {
		cmds[i] = command.New(try...)
	}
	for i, result := range c.client.DoMulti(ctx, cmds...) {
		err := result.Error()
		switch {
		case err == nil, rueidis.IsRedisNil(err), command.IsState(err): // requests get the same answer
		case command.IsError(err, "NOPERM"):
			return Fatalf("%s of keys %s*: %w", tries[i][0], c.Names.Prefix, err)
		default:
			return err
		}
	}
	return nil
}

// learn reads what a server knows of SET, and tries what changes nothing. refused is why the user may not run scripts.
func (c *Conn) learn(ctx context.Context) (a Abilities, refused, err error) {
	results := c.client.DoMulti(ctx,
		command.New("COMMAND", "DOCS", "set"),
		command.New("EVAL", "return 1", "0"),
		command.Replace.Known(c.Names.Beside(nil), "", "", "1")) // there is no such key
	for i := range results {
		if err := results[i].NonRedisError(); err != nil {
			return a, nil, err
		}
		if err := results[i].Error(); i > 0 && command.IsError(err, "NOPERM") && refused == nil {
			refused = err
		}
	}
	if docs, err := results[0].ToAny(); err == nil {
		a.IfEq = strings.Contains(fmt.Sprint(docs), "IFEQ")
	}
	a.Eval = results[1].Error() == nil && refused == nil
	return a, refused, nil
}
