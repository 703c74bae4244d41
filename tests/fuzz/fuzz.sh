#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [SECONDS [RUNS]]: builds the fuzz targets of this folder and of http/ with clang, ASan and UBSan, and runs
# each of them for that long (60), or, where anybody may send or leave what is read, so often (1000000).
# Fails on a crash, whose input stays beside the corpus; what a target prints is in the build folder.
# BUILD says where to build (build-fuzz in the repository).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build-fuzz}
seconds=${1:-60}
runs=${2:-1000000}

cmake -S "$here/../.." -B "$build" -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER=clang \
	-DCTXPROP_SANITIZE=ON -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link >/dev/null
ninja -C "$build" fuzzers >"$build/fuzzers.log" || { cat "$build/fuzzers.log"; exit 1; }

status=0
for target in "$build"/*_fuzz; do
	name=$(basename "$target" _fuzz)
	corpus=$build/corpus/$name
	mkdir -p "$corpus"
	[ -x "$build/${name}_seeds" ] && "$build/${name}_seeds" "$corpus"
	set -- -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$build/corpus/$name-"
	case $name in
	inspect_*) "$here/inspect_seeds.py" "$corpus" ;;
	names_*) "$build/names_seeds" "$corpus" ;;
	eh_frame | message | process_context) "$here/${name}_seeds.py" "$corpus" ;;
	esac
	for dict in "$here/$name.dict" "$here"/../../http/*/fuzz/"$name.dict"; do
		[ -f "$dict" ] && set -- "$@" -dict="$dict"
	done
	# What anybody may send is tried so often, however long that takes (five minutes at most).
	case $name in
	control | http2 | inspect_* | mapping | eh_frame | message | tags | process_context | names_* | java_code) set -- "$@" -runs="$runs" -max_total_time=300 ;;
	esac
	log=$build/$name.log
	if "$target" "$@" "$corpus" >"$log" 2>&1; then
		echo "ok: $name, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
	else
		echo "not ok: $name"
		tail -n 40 "$log"
		status=1
	fi
done
exit $status
