// Package command makes the commands that a server is sent, and knows its errors.
//
//	command.go, script.go           commands, without a client; the one script
//	server_error.go, redirect.go    what a server's error means; redirections to another server
package command
