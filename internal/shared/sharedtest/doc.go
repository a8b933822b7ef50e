// Package sharedtest has a shared tier in memory, for tests of those who use one: a Server,
// and a Tier for each process that a test plays. It stands in for no server in the tests of
// the tier itself.
//
// Nothing happens by itself, except for what takes time in a bubble of testing/synctest: a
// request is served on its caller's goroutine, and its pushes are delivered, by the goroutine
// of the write that made them, before that returns. Hooks are barriers: a test waits there.
//
//	server := sharedtest.NewServer()
//	a, b := server.Tier(), server.Tier()         for store.Config.Shared, one each
//	a.OnReply = func(call, key string) { ... }   the server has served; the caller waits
//	b.HoldPushes(); b.DeliverPushes()            pushes wait, and come
//	a.Disconnect()                               a new epoch: what was under way comes late
//	a.SetOnline(false)                           requests fail
//	a.SetSilent(true)                            requests wait until their context ends
//	a.Lapse(); a.Resume()                        nothing was heard for too long; and again
package sharedtest
