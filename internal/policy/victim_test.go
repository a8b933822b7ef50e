package policy

import "testing"

func TestSettingsAreValid(t *testing.T) {
	for _, p := range settings {
		if p.Share <= 0 || p.Share >= 1 || p.Promote < 1 || p.Promote > MaxFrequency {
			t.Errorf("%+v: want a share above 0 and below 1, and a frequency from 1 to %d", p, MaxFrequency)
		}
	}
}

func TestVictim(t *testing.T) {
	p := Setting{Share: 0.1, Promote: 2}
	for _, c := range []struct {
		small, main int64
		want        Lane
	}{
		{10, 90, Small}, {9, 91, Main}, {1, 0, Small}, {0, 1, Main}, {100, 0, Small},
	} {
		if got := p.Victim(c.small, c.main); got != c.want {
			t.Errorf("Victim(%d, %d) = %d, want %d", c.small, c.main, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	moves, stays := Setting{Share: 0.1, Promote: 2}, Setting{Share: 0.5, Promote: 1, Stay: true}
	for _, c := range []struct {
		name        string
		setting     Setting
		lane        Lane
		frequency   uint8
		small, main int64
		to          Lane
		then        uint8
	}{
		{"unread in Small", moves, Small, 0, 50, 50, None, 0},
		{"read too seldom", moves, Small, 1, 50, 50, None, 0},
		{"read often enough", moves, Small, 2, 50, 50, Main, 0},
		{"unread in Main", moves, Main, 0, 50, 50, None, 0},
		{"read in Main", moves, Main, 3, 50, 50, Main, 2},
		{"stays", stays, Small, 1, 50, 50, Small, 0},
		{"does not stay while Main is short", stays, Small, 1, 60, 40, Main, 0},
	} {
		to, then := c.setting.Next(c.lane, c.frequency, c.small, c.main)
		if to != c.to || then != c.then {
			t.Errorf("%s: Next = %d, %d; want %d, %d", c.name, to, then, c.to, c.then)
		}
	}
}
