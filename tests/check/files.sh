#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# files.sh - one file, one idea; every directory explains itself; nothing is
# left open; nothing speaks of one machine.
set -u

bad=0
fail() {
	echo "$*" >&2
	bad=1
}

# What is tracked or would be; all files where there is no repository.
files() {
	git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . -type f ! -path './build/*' ! -path './out/*' |
		sed 's|^\./||'
}

list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
files | grep -v ' ' | while read -r f; do
	[ ! -f "$f" ] || echo "$f"
done | LC_ALL=C sort >"$list"

# A long file says why: a line "weir-check: long because ...".
for f in $(grep '\.[ch]$' "$list"); do
	lines=$(wc -l <"$f")
	if [ "$lines" -gt 500 ] && ! grep -q 'weir-check: long because' "$f"
	then
		fail "$f: $lines lines, more than 500, and no reason"
	fi
	head -n 1 "$f" | grep -q 'SPDX-License-Identifier: ' ||
		fail "$f:1: no SPDX-License-Identifier"
done

# tests/README.md speaks for the directories of tests too.
for d in sim sim/*/ tests models scenarios plots; do
	d=${d%/}
	[ ! -d "$d" ] || [ -f "$d/README.md" ] || fail "$d: no README.md"
done

# Written so that they do not find themselves.
open='\<(T[O]DO|F[I]XME|X[X]X)\>'
machine='(^|[^A-Za-z0-9_.}~-])/(h[o]me|r[o]ot|U[s]ers|w[o]rk|t[m]p)/'
found=$(grep -v '^LICENSE$' "$list" | xargs grep -InE "$open" /dev/null)
[ -z "$found" ] || fail "$found"
found=$(grep -v '^LICENSE$' "$list" | xargs grep -InE "$machine" /dev/null)
[ -z "$found" ] || fail "$found"

exit $bad
