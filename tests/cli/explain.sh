#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weir explain: models, fields, metrics, policies, engines, unknown names.
. tests/cli/tap.sh.inc

out=$scratch/out
err=$scratch/err
shown() { # PATTERN ARGUMENT... - exit 0, and a line matches
	pattern=$1
	shift
	exits 0 "$weir" explain "$@" >"$out" && says "$pattern" "$out"
}
wrong() { # PATTERN ARGUMENT... - exit 2, one line on stderr, stdout empty
	pattern=$1
	shift
	exits 2 "$weir" explain "$@" 2>"$err" >"$out" || return 1
	[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ] || return 1
	says "$pattern" "$err"
}
every_revision() {
	"$weir" explain models >"$out" || return 1
	for file in models/cr_*.json; do
		id=${file##*/}
		says "^${id%.json} .* [0-9.]+ ms +[0-9]+ +[0-9 ]+$" "$out" ||
			return 1
	done
}
narrow() { # ARGUMENT... - no line of more than 100 characters
	"$weir" explain "$@" >"$out" || return 1
	! grep -En '.{101}' "$out"
}
overview() {
	shown '^models$' && says '^config.roofline$' "$out" &&
		! grep -En '.{81}' "$out"
}
json_is_read() { # ARGUMENT...
	"$weir" explain -o json "$@" >"$out" || return 1
	says '^\[' "$out" && says '^\]' "$out"
}
same_bytes() {
	"$weir" explain models >"$out" && "$weir" explain models >"$err" &&
		cmp "$out" "$err"
}
lengths_in_json() {
	"$weir" explain -o json 8b-h100-latency >"$out" || return 1
	says '"longest_context_tokens": 131072' "$out" &&
		says '"optimises": "time to the first token"' "$out" &&
		says '"gpus": 1,' "$out" && says '"kv_blocks": 25625' "$out"
}
edited() {
	mkdir "$scratch/data"
	sed 's/"max_num_seqs": 16/"max_num_seqs": 17/' \
		models/cr_8b-h100-latency-bb3317.json \
		>"$scratch/data/cr_8b-h100-latency-bb3317.json"
	wrong 'is not the id of this content' --data "$scratch/data" models
}
file_of_json() {
	exits 0 "$weir" explain models -o "json=$scratch/models.json" >"$out" &&
		[ ! -s "$out" ] && says cr_8b "$scratch/models.json"
}

check 'every revision has a row with TTFT, speed and context' every_revision
check 'models fit 100 columns' narrow models
check 'the overview fits 80 columns and names what there is' overview
check 'a model alone' shown '^cr_32b-h100x2' ml_qwen3-32b
check 'a revision without cr_ and digest' \
	shown 'Fitted to models/sweeps/8b-h100-vllm0.11.csv' 8b-h100-latency
check 'a revision as JSON' lengths_in_json
check 'models as JSON' json_is_read models
check 'models into a file' file_of_json
check 'the same bytes twice' same_bytes
check 'an edited revision is refused' edited
check 'a field by its path' shown '^  range    0 to 10000000$' 'traffic[0].rate'
check 'a field by its name, wherever it is' \
	shown '^config.linear.base_us$' base_us
check 'a required field says so' shown 'it is required' traffic
check 'a field as JSON' json_is_read mfu
check 'a metric' shown 'Time from arrival to the first token' ttft
check 'all policies' shown '^least_inflight$' policies
check 'an engine' shown 'config.engine' batching
check 'unknown: the nearest field' wrong 'did you mean "max_num_seqs"' max_num_seq
check 'unknown: the nearest metric' wrong 'did you mean "tpot"' tpoot
check 'unknown: the nearest revision' \
	wrong 'did you mean "cr_8b-h100-latency-bb3317"' cr_8b-h100-latency-bb3318
check 'unknown: nothing is near' wrong 'lists them' xyzzyplugh
check 'one known and one unknown: nothing is said' wrong 'no such name' ttft xyzzyplugh
finish
