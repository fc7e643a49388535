#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir test: finding, judging, baselines, formats; nothing depends on -j.
. tests/cli/tap.sh.inc

suite=$scratch/suite
mkdir -p "$suite/deep" "$suite/.hidden"
scenario() { # FILE NAME RULES
	sed "s/\"name\": \"hello\"/\"name\": \"$2\"/; s/\"duration\": \"5m\"/\"duration\": \"1m\"/
		s|\"expect\": .*|\"expect\": [$3]|" scenarios/hello.json >"$1"
}
scenario "$suite/a.json" good '"dropped == 0"'
scenario "$suite/b.json" slow '"dropped == 0", "ttft.p95(chat) < 1ms"'
scenario "$suite/deep/c.json" deep '"share(dep_a) == 1"'
scenario "$suite/.hidden/d.json" hidden '"dropped == 1"'
echo '{ "name": "data", "rates": [ 1, 2 ] }' >"$suite/data.json"

judge() { # STATUS OUT ARGUMENT...
	status=$1
	out=$2
	shift 2
	exits "$status" "$weir" test -q "$@" 2>"$scratch/err" &&
		"$weir" test "$@" >"$scratch/$out" 2>/dev/null
	[ $? -eq "$status" ]
}
held() { judge 0 held "$suite/a.json" && says 'pass   good +1 rule$' "$scratch/held"; }
failing() {
	judge 1 all "$suite" && says 'pass   good' "$scratch/all" &&
		says 'FAIL   slow' "$scratch/all" &&
		says '^         FAIL   ttft.p95\(chat\) < 1ms' "$scratch/all" &&
		says 'pass   deep' "$scratch/all" &&
		says '^3 scenarios: 2 pass, 1 do not' "$scratch/all"
}
quiet() { # what did not hold, on stderr
	exits 1 "$weir" test -q "$suite" >"$scratch/out" 2>"$scratch/err" &&
		[ ! -s "$scratch/out" ] && says 'FAIL   slow' "$scratch/err" &&
		! grep -q good "$scratch/err"
}
filtered() {
	exits 0 "$weir" test "$suite" --filter deep >"$scratch/out" 2>/dev/null &&
		says '^1 scenario: 1 pass' "$scratch/out" &&
		exits 0 "$weir" test "$suite" --filter goo >"$scratch/out" 2>/dev/null &&
		says 'pass   good' "$scratch/out" &&
		exits 2 "$weir" test "$suite" --filter nothing 2>"$scratch/err"
}
survives() { # what cannot be read hides nothing
	cp -R "$suite" "$scratch/broken"
	echo '{ "endpoint": ' >"$scratch/broken/0.json"
	scenario "$scratch/broken/aa.json" typo '"dropped = 0"'
	sed -i 's/"rate": 5/"rate": -5/' "$scratch/broken/a.json"
	exits 2 "$weir" test "$scratch/broken" >"$scratch/out" 2>/dev/null &&
		says '/0.json:[0-9]+:[0-9]+: ' "$scratch/out" &&
		says '/a.json:[0-9]+:[0-9]+: .*rate: must be' "$scratch/out" &&
		says '/aa.json:[0-9]+:[0-9]+: ' "$scratch/out" &&
		says 'FAIL   slow' "$scratch/out" && says 'pass   deep' "$scratch/out" &&
		says '^5 scenarios: 1 pass, 1 do not, 3 could not be run' "$scratch/out"
}
nowhere() {
	exits 2 "$weir" test "$suite/none.json" >"$scratch/out" 2>/dev/null &&
		says 'none.json: ' "$scratch/out" &&
		exits 2 "$weir" test 2>/dev/null &&
		exits 2 "$weir" test -j 0 "$suite" 2>/dev/null
}
same_bytes() {
	for format in text tap junit github; do
		for j in 1 2 7; do
			"$weir" test scenarios/split-25-75.json "$suite" \
				scenarios/hello.json --duration 1m -j $j \
				-o $format >"$scratch/j$j" 2>/dev/null
		done
		cmp "$scratch/j1" "$scratch/j2" && cmp "$scratch/j1" "$scratch/j7" ||
			return 1
	done
}
tap() {
	"$weir" test "$suite" -o tap >"$scratch/out" 2>/dev/null
	[ "$(grep -c '^ok\|^not ok' "$scratch/out")" -eq 3 ] &&
		says '^1\.\.3$' "$scratch/out" &&
		says '^not ok 2 - slow$' "$scratch/out" &&
		says '^# FAIL ttft' "$scratch/out"
}
junit() { # into a file, with the text on the screen
	exits 1 "$weir" test "$suite" -o junit="$scratch/r.xml" >"$scratch/out" 2>/dev/null &&
		says 'FAIL   slow' "$scratch/out" &&
		says 'tests="3" failures="1" errors="0"' "$scratch/r.xml" &&
		says 'FAIL ttft.p95\(chat\) &lt; 1ms' "$scratch/r.xml" || return 1
	command -v python3 >/dev/null || return 0
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$scratch/r.xml"
}
github() { # the rule's line
	"$weir" test "$suite" -o github >"$scratch/out" 2>/dev/null
	line=$(grep -n expect "$suite/b.json" | cut -d: -f1)
	says "^::error file=.*b\.json,line=$line,title=slow::FAIL ttft" "$scratch/out"
}
annotated_error() {
	"$weir" test "$scratch/broken" -o github >"$scratch/out" 2>/dev/null
	says '^::error file=.*/a\.json,line=[0-9]+,col=[0-9]+,title=good::.*rate' "$scratch/out"
}

# ---- Holm: of many tests a small p is no wonder ------------------------------

# p of this rule lies between 0.001 / 40 and 0.001: it fails alone only.
near_miss() {
	seed=0
	while [ $seed -lt 60 ]; do
		seed=$((seed + 1))
		"$weir" run -q scenarios/split-25-75.json --seed $seed --duration 2m \
			--set 'expect=["share(dep_a) == 0.275"]' -o json 2>/dev/null |
			awk -F'[:,]' '/"p":/ { exit !($2 > 0.00003 && $2 < 0.0009) }' &&
			return 0
	done
	echo "no seed with such a p"
	return 1
}
holm() {
	near_miss || return 1
	sed "s/\"seed\": 1/\"seed\": $seed/; s/\"duration\": \"10m\"/\"duration\": \"2m\"/" \
		scenarios/split-25-75.json |
		awk '/"expect"/ { print "  \"expect\": [ \"share(dep_a) == 0.275\" ]"; print "}"; exit } { print }' \
		>"$scratch/near.json"
	exits 1 "$weir" test "$scratch/near.json" >/dev/null 2>&1 || return 1
	mkdir -p "$scratch/many"
	cp "$scratch/near.json" "$scratch/many/near.json"
	rules=$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "%s\"share(dep_a, 0s..%ds) == 1\"", i ? ", " : "", i + 10 }')
	scenario "$scratch/many/sure.json" sure "$rules"
	exits 0 "$weir" test "$scratch/many" >"$scratch/out" 2>/dev/null &&
		says "41 exact tests, Holm's correction" "$scratch/out"
}

# ---- baselines ---------------------------------------------------------------

record() {
	exits 1 "$weir" test "$suite" --record "$scratch/base" >/dev/null 2>&1 &&
		[ -s "$scratch/base/good.json" ] && [ -s "$scratch/base/slow.json" ] &&
		exits 0 "$weir" test "$suite/a.json" --baseline "$scratch/base" >/dev/null 2>&1
}
changed() { # one digit of the baseline is enough
	cp -R "$scratch/base" "$scratch/base2"
	awk '/"ep_hello.ttft.p99_ms"/ { sub(/[0-9],$/, "5,") || sub(/[0-9]$/, "5"); sub(/: [0-9]/, ": 9") } { print }' \
		"$scratch/base/good.json" >"$scratch/base2/good.json"
	exits 1 "$weir" test "$suite/a.json" --baseline "$scratch/base2" >"$scratch/out" 2>/dev/null &&
		says 'good.json: other numbers: 1$' "$scratch/out" &&
		says 'metric +was +is +difference' "$scratch/out" &&
		says 'ep_hello.ttft.p99_ms +9' "$scratch/out"
}
accepted() {
	exits 0 "$weir" test "$suite/a.json" --baseline "$scratch/base2" --accept >/dev/null 2>&1 &&
		cmp "$scratch/base/good.json" "$scratch/base2/good.json"
}
edited() { # a scenario that was edited
	exits 1 "$weir" test "$suite/a.json" --set 'traffic[0].rate=5.5' \
		--baseline "$scratch/base" -o tap >"$scratch/out" 2>/dev/null &&
		says '^# ep_hello.arrived was [0-9]+, is [0-9]+' "$scratch/out"
}
other_seed() { # by intervals: another draw is no change, a slower model is
	exits 0 "$weir" test "$suite/a.json" --seed 7 --baseline "$scratch/base" >/dev/null 2>&1 &&
		exits 1 "$weir" test "$suite/a.json" --seed 7 --baseline "$scratch/base" \
			--set 'traffic[0].input_tokens=1024' >"$scratch/out" 2>/dev/null &&
		says 'ep_hello.ttft.p95_ms' "$scratch/out"
}
other_version() {
	mkdir -p "$scratch/old"
	sed 's/"weir": "[^"]*"/"weir": "0.0.1"/' "$scratch/base/good.json" >"$scratch/old/good.json"
	exits 2 "$weir" test "$suite/a.json" --baseline "$scratch/old" >"$scratch/out" 2>/dev/null &&
		says 'old/good.json: .*a baseline of weir 0\.0\.1' "$scratch/out"
}
broken_baseline() {
	echo '{ "weir": ' >"$scratch/old/good.json"
	exits 2 "$weir" test "$suite/a.json" --baseline "$scratch/old" >"$scratch/out" 2>/dev/null &&
		says 'old/good.json:[0-9]+' "$scratch/out"
}
no_baseline() {
	exits 1 "$weir" test "$suite/a.json" --baseline "$scratch/none" >"$scratch/out" 2>/dev/null &&
		says 'there is no baseline .*none/good.json' "$scratch/out"
}
beside() { # baselines/ beside the scenario is found by itself
	exits 0 "$weir" test "$suite/a.json" --accept >/dev/null 2>&1 &&
		[ -s "$suite/baselines/good.json" ] &&
		sed -i 's/"ep_hello.arrived": /&1/' "$suite/baselines/good.json" &&
		exits 1 "$weir" test "$suite/a.json" >"$scratch/out" 2>/dev/null &&
		says 'ep_hello.arrived' "$scratch/out" &&
		exits 1 "$weir" test "$suite" >"$scratch/out" 2>/dev/null &&
		says '^3 scenarios' "$scratch/out"
}
one_name() { # two scenarios cannot share a baseline
	cp "$suite/a.json" "$scratch/twin.json"
	exits 2 "$weir" test "$suite/a.json" "$scratch/twin.json" \
		--record "$scratch/twins" >"$scratch/out" 2>/dev/null &&
		says 'twin.json: would have the baseline' "$scratch/out"
}
unwritable() {
	: >"$scratch/file"
	exits 3 "$weir" test "$suite/a.json" --record "$scratch/file/x" >/dev/null 2>&1
}
interrupted() {
	"$weir" test "$suite" --duration 100d >"$scratch/out" 2>/dev/null &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	[ $? -eq 130 ] && says 'interrupted' "$scratch/out"
}

readme() { # the commands of its section, as they stand there
	mkdir -p "$scratch/tree/sim"
	cp -R models scenarios "$scratch/tree/"
	cp sim/LAYERS "$scratch/tree/sim/"
	ln -s "$(cd "$(dirname "$weir")" && pwd)/$(basename "$weir")" "$scratch/tree/weir"
	sed -n '/^## Routing tests in CI/,/^`weir test`/s/^\(\.\/weir [^#]*\).*$/\1/p' \
		README.md >"$scratch/commands"
	[ "$(wc -l <"$scratch/commands")" -eq 6 ] &&
		(cd "$scratch/tree" && sh -e "$scratch/commands" >/dev/null 2>&1)
}

check 'rules that hold: exit 0' held
check 'rules that do not: exit 1, and which' failing
check 'quiet: failures on stderr' quiet
check 'a filter by file and name' filtered
check 'what cannot be read: exit 2, and hides nothing' survives
check 'nothing there, bad words' nowhere
check 'the same bytes for any -j' same_bytes
check 'tap' tap
check 'junit' junit
check 'github' github
check 'github: the place of an error' annotated_error
check 'Holm over all tests of a run' holm
check 'numbers are recorded, and the same again' record
check 'a number that changed: exit 1, and which' changed
check 'accepted' accepted
check 'an edited scenario changes its numbers' edited
check 'another seed: by intervals' other_seed
check 'a baseline of another version' other_version
check 'a baseline that is broken' broken_baseline
check 'a baseline that is not there' no_baseline
check 'baselines beside the scenario' beside
check 'two scenarios of one name' one_name
check 'a baseline that cannot be written: exit 3' unwritable
check 'SIGINT: exit 130' interrupted
check 'the commands of the README' readme
finish
