#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh BUILD - lines and branches of sim that the tests have reached,
# one row a directory. An assert's branches are not counted: a state that
# cannot be is no decision.
set -eu

find "$1/sim" -name '*.gcda' | LC_ALL=C sort | while read -r data; do
	gcov -b -t "$data" 2>/dev/null
done | awk '
function reach(kind, hit) {
	all[room, kind]++
	all["all", kind]++
	if (hit) {
		reached[room, kind]++
		reached["all", kind]++
	}
}
function percent(room, kind) {
	return all[room, kind] ? 100 * reached[room, kind] / all[room, kind] : 0
}
function row(room) {
	return sprintf("%-10s %6d %7.1f %% %8d %7.1f %%", room,
		all[room, "line"], percent(room, "line"),
		all[room, "branch"], percent(room, "branch"))
}
/^ *-: *0:Source:/ {
	split($0, part, ":")
	ours = part[4] ~ /^sim\/[^\/]*\/[^\/]*\.c$/
	split(part[4], part, "/")
	room = part[2]
	if (ours)
		rooms[room]
	asserting = 0
	next
}
!ours { next }
/^branch/ {
	if (!asserting)
		reach("branch", !/never executed|taken 0%/)
	next
}
/^ *[^:]*: *[0-9]+:/ {
	if (asserting && ended)
		asserting = 0
	if (/[^_a-z]assert\(/)
		asserting = 1
	ended = /;/
	if ($1 !~ /^-/)
		reach("line", $1 !~ /^[#=]/)
}
END {
	print "directory   lines   reached branches   reached"
	for (room in rooms)
		print row(room) | "LC_ALL=C sort"
	close("LC_ALL=C sort")
	print row("all")
}'
