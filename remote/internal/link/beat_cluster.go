package link

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/redis/rueidis"
)

// A server of a cluster that was cut off with a minority goes on answering PING, and after its
// node timeout refuses keys. So its sign of life is the reading of a key of one of its slots.
// With every other one it sends its map.

// mapGap is how long after the last heartbeat the next one is sent at least, however often the
// connection is poked.
const mapGap = 20 * time.Millisecond

// mapWatch is when a connection's server has confirmed what it owns.
type mapWatch struct {
	confirmed int64 // when the question was sent whose answer did; never before
	due       bool  // the next heartbeat requests the map, too
	slot      int   // of the key that is read
}

// beatCluster sends a heartbeat to a server of a cluster.
func (c *Conn) beatCluster(h *heartbeat, now int64) (until int64, ok bool) {
	var cmds []rueidis.Completed
	if c.watch.due {
		cmds = append(cmds, command.New("CLUSTER", "MYID"), command.New("CLUSTER", "INFO"), command.New("CLUSTER", "SLOTS"))
	}
	asked := len(cmds)
	sign := command.New("PING")
	slot, owns := c.events.Slot(c.watch.slot)
	if owns {
		c.watch.slot = slot
		sign = command.GetRange(c.beatName(slot), 0, 1)
	}
	free := c.abandoned.Swap(0)
	h.ping(now)
	results := c.client.DoMulti(context.Background(), append(cmds, sign)...)
	last := results[len(results)-1]
	if last.NonRedisError() != nil {
		return never, false
	}
	c.free(free)
	if asked > 0 {
		m, err := c.parseMap(results[:asked])
		c.events.Map(c, m, err)
		if err == nil && m.OK {
			c.watch.confirmed = now
		}
	}
	c.watch.due = !c.watch.due
	c.refused = command.IsBusy(last.Error())
	if !isSign(last, owns) {
		c.watch.due = true
		return never, false
	}
	return min(h.pong(), c.watch.confirmed+h.bound), c.watch.confirmed != never
}

// isSign reports whether an answer says that the server takes requests for its slots. That it
// has sent the key elsewhere is one: a slot on its way is still its own.
func isSign(r rueidis.RedisResult, owns bool) bool {
	if !owns {
		s, err := r.ToString()
		return err == nil && s == "PONG"
	}
	err := r.Error()
	return err == nil || command.IsError(err, "ASK") || command.IsError(err, "WRONGTYPE")
}

// parseMap takes the server's name, and its map of the cluster.
func (c *Conn) parseMap(results []rueidis.RedisResult) (m *slots.Map, err error) {
	m = &slots.Map{}
	if m.Self, err = results[0].ToString(); err != nil {
		return nil, err
	}
	info, err := results[1].ToString()
	if err != nil {
		return nil, err
	}
	m.Epoch, m.OK = parseClusterInfo(info)
	answer, err := results[2].ToAny()
	if err != nil {
		return nil, err
	}
	m.Primaries, err = slots.Parse(answer, slots.HostOf(c.Addr))
	return m, err
}

// parseClusterInfo takes the state and the epoch from CLUSTER INFO. Protocol 3 puts the text's
// format before it.
func parseClusterInfo(info string) (epoch uint64, ok bool) {
	info = strings.TrimPrefix(info, "txt:")
	epoch, err := strconv.ParseUint(command.InfoField(info, "cluster_my_epoch"), 10, 64)
	return epoch, err == nil && command.InfoField(info, "cluster_state") == "ok"
}

// beatName is the name of a key in a slot, which is not used for anything.
func (c *Conn) beatName(slot int) string {
	return c.Names.Prefix + "h{" + strconv.Itoa(int(slotTags()[slot])) + "}"
}

// slotTags are hash tags of the slots.
var slotTags = sync.OnceValue(func() *[slots.Count]int32 {
	var tags [slots.Count]int32
	for n, left := int32(1), slots.Count; left > 0; n++ {
		if slot := slots.CRC16(strconv.Itoa(int(n))) % slots.Count; tags[slot] == 0 {
			tags[slot] = n
			left--
		}
	}
	return &tags
})
