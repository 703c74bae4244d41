# SPDX-License-Identifier: Apache-2.0
# Completion of ctxprop for bash; installed as bash-completion/completions/ctxprop.

# The parts of a rule that were not said yet. The words of the line up to here are arguments.
_ctxprop_parts() {
	local said=" $* " parts='prio dir dev from to port cgroup host action sample root tracestate' part
	case $said in
	*' dir in '* | *' action accept '* | *' action ignore '*)
		parts='prio dir dev from to port action'
		;;
	*' dir forward '*) parts=${parts/ cgroup/} ;;
	esac
	case $said in
	*' action inject '*) ;;
	*' action restart '*) parts=${parts/ root tracestate/} ;;
	*' action '*) parts=${parts/ sample root tracestate/} ;;
	esac
	for part in $parts; do
		case $said in
		*" $part "*) ;;
		*) echo "$part" ;;
		esac
	done
}

# $1: the word before; the others: the words of the rule so far.
_ctxprop_rule() {
	local previous=$1
	shift
	case $previous in
	dir) echo out in forward ;;
	dev) ls /sys/class/net 2>/dev/null ;;
	action)
		case " $* " in
		*' dir in '*) echo accept ignore ;;
		*' dir '*) echo inject observe restart strip skip ;;
		*) echo inject observe restart strip skip accept ignore ;;
		esac
		;;
	root | tracestate) echo yes no ;;
	from | to) echo any; _ctxprop_sets ;;
	prio | port | cgroup | host | sample) ;;
	*) _ctxprop_parts "$@" ;;
	esac
}

_ctxprop_sets() {
	ctxprop set 2>/dev/null | sed -n 's/^\([^[:space:]].*\):$/\1/p'
}

# The priorities that can be deleted: those of rules that are not built in.
_ctxprop_prios() {
	ctxprop policy 2>/dev/null | sed -n '/# built in$/d; s/^\([0-9]*\):.*/\1/p'
}

# What may follow the words of the line, of which $1 is the command and the others stand behind it.
_ctxprop_words() {
	local command=$1 verb=$2 previous=${*: -1}
	case $command in
	'') echo trace top map why who logs sql profile labels stats flows policy set monitor doctor pause resume attach detach drain ;;
	policy)
		case $verb in
		'') echo show add replace del flush save restore ;;
		add | replace) _ctxprop_rule "$previous" "${@:3}" ;;
		del)
			case $#,$previous in
			2,*) echo prio ;;
			3,prio) _ctxprop_prios ;;
			esac
			;;
		esac
		;;
	profile)
		case $# in
		1) echo show diff ;;
		*) echo '<file>' ;;
		esac
		;;
	attach | detach)
		case $#,$previous in
		*,netns) ls /run/netns 2>/dev/null ;;
		1,*) echo netns; ls /sys/class/net 2>/dev/null ;;
		2,*) echo netns ;;
		esac
		;;
	labels) [ $# -gt 1 ] || echo list register unregister ;;
	set)
		case $# in
		1) echo show; _ctxprop_sets ;;
		2) [ "$verb" = show ] || echo add del show flush ;;
		esac
		;;
	esac
}

_ctxprop_options() {
	case $1 in
	'') echo --netns --json --oneline --color --statistics --help --version ;;
	stats | policy) echo --json --oneline --color --statistics --help ;;
	flows) echo --json --oneline --color --processes --extended --all --stacks --explain --help ;;
	detach) echo --json --oneline --color --force --help ;;
	trace)
		echo --json --color --follow --number --slow --status --errors --endpoint --service \
			--last --store --help
		;;
	profile)
		echo --json --color --duration --frequency --pid --cgroup --endpoint --bucket --trace --requests --off-cpu --all \
			--label --no-labels --registry --output --format --ids --tags --by --last --before --store --help
		;;
	labels) echo --json --oneline --color --program --symbol --type --as --registry --help ;;
	top) echo --json --oneline --color --number --sort --last --store --help ;;
	map) echo --json --oneline --color --last --store --help ;;
	who) echo --json --oneline --color --all --help ;;
	logs) echo --journal --unit --since --stdin --store --statistics --help ;;
	sql) echo --json --oneline --color --store --attach --help ;;
	why) echo --json --oneline --color --store --help ;;
	*) echo --json --oneline --color --help ;;
	esac
}

# Does an option of a command ($1) take a value ($2)?
_ctxprop_takes_value() {
	case $2 in
	-n | --netns | --number) [ "$1" != flows ] ;;
	--store | --attach | --slow | --status | --endpoint | --service | --last | --sort) ;;
	--duration | --frequency | --pid | --cgroup | --bucket | --trace | --output | --format) ;;
	--tags | --by | --before) ;;
	--label | --no-labels | --registry | --program | --symbol | --type | --as) ;;
	--unit | --since) ;;
	-d | -F | -p | -o) [ "$1" = profile ] ;;
	-u) [ "$1" = logs ] ;;
	*) false ;;
	esac
}

# What its value may be; nothing for numbers, times and patterns. "<file>": a file.
_ctxprop_values() {
	case $2 in
	--netns) ls /run/netns 2>/dev/null ;;
	-n) [ -n "$1" ] || ls /run/netns 2>/dev/null ;;
	--store | --attach | --output | --registry | --program | -o | --tags) echo '<file>' ;;
	--sort) echo rate errors p50 p99 cpu ;;
	--bucket) echo p50 p90 p99 max ;;
	--format) echo pprof svg folded otlp ;;
	--by) echo bucket= endpoint= ;;
	--no-labels) echo otel elastic go custom registered all ;;
	--type) echo u64 string ;;
	--status) echo 2xx 3xx 4xx 5xx ;;
	esac
}

_ctxprop_offer() {
	local offered=$1 current=$2
	if [ "$offered" = '<file>' ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$current")
	fi
}

_ctxprop() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local words=() i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) if _ctxprop_takes_value "${words[0]}" "${COMP_WORDS[i]}"; then ((i++)); fi ;;
		*) words+=("${COMP_WORDS[i]}") ;;
		esac
	done
	COMPREPLY=()
	if _ctxprop_takes_value "${words[0]}" "$previous"; then
		_ctxprop_offer "$(_ctxprop_values "${words[0]}" "$previous")" "$current"
	elif [[ $current == -* ]]; then
		_ctxprop_offer "$(_ctxprop_options "${words[0]}")" "$current"
	elif [ "${words[*]:0:2}" = "policy restore" ]; then
		[ "${#words[@]}" -gt 2 ] || _ctxprop_offer '<file>' "$current"
	else
		_ctxprop_offer "$(_ctxprop_words "${words[@]:-}")" "$current"
	fi
}

complete -F _ctxprop ctxprop
