package remote

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firncache/firn/remote/internal/slots"
	"github.com/redis/rueidis"
)

// A server of a cluster that was cut off with a minority goes on answering PING, and after its
// node timeout refuses keys. So its sign of life is the reading of a key of one of its slots.
// With every other one it sends its map.

// mapGap is how long after the last heartbeat the next one is sent at least, however often the
// wire is poked.
const mapGap = 20 * time.Millisecond

// beatCluster sends a heartbeat to a server of a cluster.
func (c *conn) beatCluster(h *heartbeat, now int64) (until int64, ok bool) {
	cluster, watch := c.w.t.cluster, &c.watch
	cmds := c.mapCommands(watch.due)
	asked := len(cmds)
	slot, owns := cluster.slotFor(c.w, watch.slot)
	sign := command("PING")
	if owns {
		watch.slot = slot
		sign = getRange(c.w.t.beatName(slot), 0, 1)
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
		c.takeMap(results[:asked], now)
	}
	watch.due = !watch.due
	c.refused = isBusy(last.Error())
	if !isSign(last, owns) {
		watch.due = true
		return never, false
	}
	return min(h.pong(), watch.confirmed+h.bound), watch.confirmed != never
}

// inCluster reports whether the server is in a cluster. One that is not owns all slots.
func (c *conn) inCluster() bool { return c.server.mode == inCluster }

// claimAll is for a server that turned out to be in no cluster.
func (c *conn) claimAll() {
	if c.w.t.cluster != nil && !c.inCluster() {
		only := slots.Member{Addr: c.w.addr, Slots: slots.All}
		c.w.t.cluster.update(c, &slots.Map{Primaries: []slots.Member{only}, OK: true})
	}
}

// isSign reports whether an answer says that the server takes requests for its slots. That it
// has sent the key elsewhere is one: a slot on its way is still its own.
func isSign(r rueidis.RedisResult, owns bool) bool {
	if !owns {
		return isPong(r)
	}
	err := r.Error()
	return err == nil || isServerError(err, "ASK") || isServerError(err, "WRONGTYPE")
}

// mapCommands read a server's name and its map of the cluster.
func (c *conn) mapCommands(due bool) []rueidis.Completed {
	if !due {
		return nil
	}
	return []rueidis.Completed{command("CLUSTER", "MYID"), command("CLUSTER", "INFO"), command("CLUSTER", "SLOTS")}
}

// takeMap takes the answers to mapCommands.
func (c *conn) takeMap(results []rueidis.RedisResult, asked int64) {
	m, err := c.parseMap(results)
	if err != nil {
		c.w.t.noteMap(c.w, err)
		return
	}
	c.w.t.cluster.update(c, m)
	if m.OK {
		c.watch.confirmed = asked
	}
}

func (c *conn) parseMap(results []rueidis.RedisResult) (m *slots.Map, err error) {
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
	m.Primaries, err = slots.Parse(answer, slots.HostOf(c.w.addr))
	return m, err
}

// slotFor is a slot of a wire's server: the one that it was, if it still is.
func (c *cluster) slotFor(w *wire, last int) (slot int, ok bool) {
	for i := range slots.Count {
		slot = (last + i) % slots.Count
		if p := c.slots[slot].Load(); p != nil && p.w == w && !p.over {
			return slot, true
		}
	}
	return 0, false
}

// beatName is the name of a key in a slot, which is not used for anything.
func (t *sharedTier) beatName(slot int) string {
	return t.names.Prefix + "h{" + strconv.Itoa(int(slotTags()[slot])) + "}"
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

// parseClusterInfo takes the state and the epoch from CLUSTER INFO. Protocol 3 puts the text's
// format before it.
func parseClusterInfo(info string) (epoch uint64, ok bool) {
	info = strings.TrimPrefix(info, "txt:")
	epoch, err := strconv.ParseUint(infoField(info, "cluster_my_epoch"), 10, 64)
	return epoch, err == nil && infoField(info, "cluster_state") == "ok"
}
