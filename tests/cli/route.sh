#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir route: a run's decisions, shares, movement, other routers, errors.
. tests/cli/tap.sh.inc

tab=$(printf '\t')
cat >"$scratch/table.json" <<'END'
{ "trafficSplit": [
    { "deploymentId": "dep_a", "weight": 0.7 },
    { "deployment_id": "dep_b", "weight": 0.3 } ],
  "createTime": "2026-01-01T00:00:00Z",
  "deployments": [
    { "id": "dep_a", "replicas": 1 },
    { "id": "dep_b", "replicas": 3, "state": "READY" } ] }
END
sed 's/"replicas": 1/"replicas": 2/' "$scratch/table.json" >"$scratch/grown.json"
awk 'BEGIN { for (i = 0; i < 100000; i++) print "user-" i }' >"$scratch/keys"

# The decisions of a run, as `weir route` would print them.
of_a_run() { # NAME ARGUMENT...
	name=$1
	shift
	"$weir" run -q scenarios/split-25-75.json --duration 3m \
		--dir "$scratch/$name" "$@" >/dev/null 2>&1
	awk -F, -v OFS="$tab" 'NR > 1 { print $6, $7, $8 }' \
		"$scratch/$name/requests.csv" >"$scratch/$name.run"
	"$weir" route --csv key "$scratch/$name/scenario.json" \
		"$scratch/$name/requests.csv" >"$scratch/$name.route"
	[ "$(wc -l <"$scratch/$name.run")" -gt 5000 ]
}
whole_decisions() { # deployment and replica, of a policy without state
	of_a_run "$1" --set "endpoint.deployments[1].replica_choice=$1" &&
		cmp "$scratch/$1.run" "$scratch/$1.route"
}
drawn_keys() { # users instead of unique keys, and all policies' deployments
	of_a_run users --set 'traffic[0].keys={"users":500,"zipf":1.1}' \
		--set 'endpoint.deployments[1].replica_choice=least_inflight'
	cut -f1,2 "$scratch/users.run" >"$scratch/a"
	cut -f1,2 "$scratch/users.route" >"$scratch/b"
	cmp "$scratch/a" "$scratch/b" &&
		says "^user-[0-9]+${tab}dep_b\$" "$scratch/a"
}
forms() { # the same keys, plain, as CSV and as bodies
	head -n 500 "$scratch/keys" >"$scratch/k"
	awk 'BEGIN { print "n,\"the \"\"key\"\"\"" } { print NR ",\"" $0 "\"" }' \
		"$scratch/k" >"$scratch/k.csv"
	awk 'NR % 3 == 0 { print "{\"user\": \"" $0 "\"}"; next }
		NR % 3 == 1 { print "{\"user\":\"u\",\"prompt_cache_key\":\"" $0 "\",\"n\":[1,{}]}"; next }
		{ print "{\"prompt_cache_key\":\"\",\"user\":\"\",\"x\":\"\\u00e9\",\"content\":\"" $0 "\"}" }' \
		"$scratch/k" >"$scratch/k.jsonl"
	"$weir" route "$scratch/table.json" "$scratch/k" >"$scratch/1"
	"$weir" route "$scratch/table.json" <"$scratch/k" >"$scratch/1b"
	"$weir" route --csv 'the "key"' "$scratch/table.json" "$scratch/k.csv" >"$scratch/2"
	"$weir" route --json "$scratch/table.json" "$scratch/k.jsonl" >"$scratch/3"
	cut -f2,3 "$scratch/1" >"$scratch/1c"
	cut -f2,3 "$scratch/3" >"$scratch/3c"
	cmp "$scratch/1" "$scratch/1b" && cmp "$scratch/1" "$scratch/2" &&
		cmp "$scratch/1c" "$scratch/3c" &&
		[ "$(grep -c '^xxh64:' "$scratch/3")" -eq 167 ] &&
		[ "$(grep -c '^user-' "$scratch/3")" -eq 333 ]
}
spelling() { # messages are one content however they are written
	printf '%s\n%s\n%s\n' '{"messages":[{"role":"user","content":"a b"}]}' \
		'{ "messages" : [ {"content":"a b", "role":"user"} ], "model":"m" }' \
		'{"messages":[{"role":"user","content":"a c"}]}' >"$scratch/m"
	"$weir" route --json "$scratch/table.json" "$scratch/m" |
		cut -f1 | uniq -c | awk '{ print $1 }' >"$scratch/n"
	[ "$(tr '\n' ' ' <"$scratch/n")" = '2 1 ' ]
}
as_json() {
	printf 'a "b"\\\tc\n' | "$weir" route -o json "$scratch/table.json" >"$scratch/j" &&
		says '^\{"key":"a \\"b\\"\\\\\\u0009c","deployment":"dep_[ab]","replica":"dep_[ab]-[0-9]"\}$' "$scratch/j"
}
count() {
	exits 0 "$weir" route --count "$scratch/table.json" "$scratch/keys" >"$scratch/c" &&
		says '^dep_a +43\.750 % ' "$scratch/c" &&
		says 'keys   100 000 distinct of 100 000' "$scratch/c"
}
repeats() { # a key counts once
	cat "$scratch/keys" "$scratch/keys" |
		"$weir" route --count "$scratch/table.json" >"$scratch/c2"
	says 'keys   100 000 distinct of 200 000' "$scratch/c2"
}
diff_least() {
	exits 0 "$weir" route --diff "$scratch/grown.json" "$scratch/table.json" \
		"$scratch/keys" >"$scratch/d" &&
		says 'pass   moved: 17\.[0-9]+ % of 100 000 keys .* least 17\.12 %' "$scratch/d"
}
no_diff() {
	sed 's/0\.7/700/; s/0\.3/300/' "$scratch/table.json" >"$scratch/same.json"
	exits 0 "$weir" route --diff "$scratch/same.json" "$scratch/table.json" \
		"$scratch/keys" >"$scratch/d" &&
		says 'moved: 0 % of 100 000 keys .* least 0 %, p 1$' "$scratch/d"
}
decisions() { # TABLE FILE
	"$weir" route -o json "$1" "$scratch/keys" >"$2"
}
peer_good() {
	decisions "$scratch/table.json" "$scratch/before"
	decisions "$scratch/grown.json" "$scratch/after"
	exits 0 "$weir" route --decisions "$scratch/before" "$scratch/table.json" &&
		exits 0 "$weir" route --decisions "$scratch/before" \
			--decisions "$scratch/after" --diff "$scratch/grown.json" \
			"$scratch/table.json"
}
peer_share() { # two points from dep_b to dep_a
	awk '/dep_b-/ && n++ % 28 == 0 { gsub("dep_b", "dep_a") } { print }' \
		"$scratch/before" >"$scratch/off"
	exits 1 "$weir" route --decisions "$scratch/off" "$scratch/table.json" >"$scratch/o" &&
		says 'FAIL   shares' "$scratch/o" && says 'pass   stickiness' "$scratch/o"
}
peer_sticky() {
	{ cat "$scratch/before"; grep -m 1 dep_a- "$scratch/before" |
		sed 's/dep_a/dep_b/g'; } >"$scratch/loose"
	exits 1 "$weir" route --decisions "$scratch/loose" "$scratch/table.json" >"$scratch/o" &&
		says 'FAIL   stickiness: keys on two deployments: 1' "$scratch/o" &&
		says 'key "user-[0-9]+" on dep_a, and in line 100001 on dep_b' "$scratch/o"
}
peer_unknown() {
	{ cat "$scratch/before"; echo '{"key":"x","deployment":"dep_z"}'; } >"$scratch/z"
	exits 1 "$weir" route --decisions "$scratch/z" "$scratch/table.json" >"$scratch/o" &&
		says '^dep_z .*FAIL' "$scratch/o"
}
peer_moves() { # a key goes to dep_b, which did not grow
	sed '1,2000s/dep_a/dep_c/g; 1,2000s/dep_b/dep_a/g; 1,2000s/dep_c/dep_b/g' \
		"$scratch/before" >"$scratch/swapped"
	exits 1 "$weir" route --decisions "$scratch/before" \
		--decisions "$scratch/swapped" --diff "$scratch/table.json" \
		"$scratch/table.json" >"$scratch/o" &&
		says 'FAIL   moved: 2 % of' "$scratch/o" &&
		says '2 000 of them to a deployment that did not grow' "$scratch/o"
}
fast() { # a million keys a second of the processor's time, at the least
	awk 'BEGIN { for (i = 0; i < 2000000; i++) print "user-" i }' >"$scratch/many"
	( ulimit -t 2 && "$weir" route "$scratch/table.json" "$scratch/many" |
		tail -n 1 >"$scratch/last" )
	says '^user-1999999' "$scratch/last"
}
not_routable() {
	sed 's/0\.[73]/0/' "$scratch/table.json" >"$scratch/none.json"
	[ "$(echo k | "$weir" route "$scratch/none.json")" = \
		"k$tab-${tab}endpoint_not_configured" ] &&
		wrong 'none.json: no deployment has a weight' \
			--count "$scratch/none.json"
}

# wrong PATTERN ARGUMENT... - exit 2, one line on stderr, nothing on stdout.
wrong() {
	pattern=$1
	shift
	exits 2 "$weir" route "$@" </dev/null >"$scratch/w.out" 2>"$scratch/w.err" &&
		says "$pattern" "$scratch/w.err" &&
		[ "$(wc -l <"$scratch/w.err")" -eq 1 ] && [ ! -s "$scratch/w.out" ]
}
bad_table() { # SED-SCRIPT PATTERN
	sed "$1" "$scratch/table.json" >"$scratch/bad.json"
	wrong "$2" "$scratch/bad.json"
}
bad_keys() { # FORM TEXT PATTERN
	printf "$2" >"$scratch/bad.keys"
	# shellcheck disable=SC2086
	exits 2 "$weir" route $1 "$scratch/table.json" "$scratch/bad.keys" \
		>/dev/null 2>"$scratch/w.err" && says "$3" "$scratch/w.err"
}
bad_decision() { # TEXT PATTERN
	printf "$1" >"$scratch/bad.jsonl"
	wrong "$2" --decisions "$scratch/bad.jsonl" "$scratch/table.json"
}

check 'decisions of a run: rendezvous' whole_decisions rendezvous
check 'decisions of a run: ring' whole_decisions ring
check 'decisions of a run: users, least in flight' drawn_keys
check 'plain, CSV and bodies: the same keys' forms
check 'content does not depend on spelling' spelling
check 'decisions as JSON Lines' as_json
check 'shares hold' count
check 'a key counts once' repeats
check 'a replica more: the least moves' diff_least
check 'weights of another scale: nothing moves' no_diff
check 'another router, right' peer_good
check 'another router: shares off' peer_share
check 'another router: a key on two' peer_sticky
check 'another router: an unknown deployment' peer_unknown
check 'another router: moves for nothing' peer_moves
check 'two million keys in two seconds' fast
check 'nothing is routable' not_routable
check 'bad weight' bad_table 's/0\.3/-3/' \
	'bad.json:3:43: \$.trafficSplit\[1\].weight: must be a number from 0 on'
check 'unknown deployment' bad_table 's/"dep_b", "w/"dep_bb", "w/' \
	'bad.json:3:24: .*did you mean "dep_[ab]"'
check 'no replicas' bad_table 's/"replicas": 3, //' \
	'bad.json:7:5: \$.deployments\[1\]: has no "replicas"'
check 'bad policy' bad_table 's/"state": "READY"/"replica_choice": "rendevous"/' \
	'bad.json:7:55: .*did you mean "rendezvous"'
check 'an experiment is not ignored' bad_table \
	's/"createTime": .*/"abExperiments": [{}],/' 'bad.json:4:20: .*take it out'
check 'not JSON' bad_table 's/}, *$/},,/' 'bad.json:[23]:[0-9]+: '
check 'a missing table' wrong 'nowhere.json: No such file' nowhere.json
check 'an empty key' bad_keys '' 'a\n\nb\n' 'bad.keys:2: is empty'
check 'a column that is not there' bad_keys '--csv kay' 'id,key\n' \
	'bad.keys:1: .*did you mean "key"'
check 'a short row' bad_keys '--csv key' 'id,key\n1,a\n2\n' 'bad.keys:3: the key is field 2, and the line has 1'
check 'a quote left open' bad_keys '--csv key' 'id,key\n1,"a\n' 'bad.keys:2: .*quoted'
check 'a body that is broken' bad_keys --json '{"user":"a"}\n{"user":"a\n' 'bad.keys:2:[0-9]+: '
check 'a body without a key' bad_keys --json '{"user":"a"}\n{"model":"a"}\n' 'bad.keys:2: has no prompt_cache_key'
check 'a user that is no string' bad_keys --json '{"user":7}\n' 'bad.keys:1: \$.user: must be a string'
check 'a broken decision' bad_decision '{"key":"a","deployment":"dep_a"}\n{"key":}\n' 'bad.jsonl:2:[0-9]+: '
check 'a decision without a key' bad_decision '{"deployment":"dep_a"}\n' 'bad.jsonl:1: \$.key: is missing'
check 'no decisions' bad_decision '' 'bad.jsonl: holds no decisions'
check '--csv and --json' wrong 'one of them' --csv k --json "$scratch/table.json"
finish
