# SPDX-License-Identifier: Apache-2.0
# Completion of ctxprop and ctxpropd for bash; installed as bash-completion/completions/ctxprop and
# ctxpropd. Commands and options are those that --help of the program lists.

# $1: a command, or nothing.
_ctxprop_help() {
	"${COMP_WORDS[0]}" ${1:+"$1"} --help 2>/dev/null
}

# The options of a command ($1), one a line: "-n,|--number|N"; one without a short form begins with
# blanks, one without an argument ends with |.
_ctxprop_rows() {
	_ctxprop_help "$1" | sed -nE 's/^  (-.,|   ) (--[a-z-]+)( ([^ ]+)|\[=[^]]*\])?( {2,}.*)?$/\1|\2|\4/p'
}

_ctxprop_options() {
	_ctxprop_rows "$1" | cut -d '|' -f 2
}

# The argument of an option ($2) of a command ($1); nothing if it takes none.
_ctxprop_argument() {
	local short long argument
	_ctxprop_rows "$1" | while IFS='|' read -r short long argument; do
		if [ "$2," = "$short" ] || [ "$2" = "$long" ]; then
			echo "$argument"
		fi
	done
}

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
	'') _ctxprop_help | sed -nE 's/^  ([a-z]+) +[A-Z].*/\1/p' ;;
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

# What an argument may be, by what --help calls it. "<file>": a file.
_ctxprop_values() {
	local word
	case $1 in
	NETNS) ls /run/netns 2>/dev/null ;;
	FILE | PATH) echo '<file>' ;;
	STATUS) echo 2xx 3xx 4xx 5xx ;;
	KEY=ONE,OTHER) echo bucket= endpoint= ;;
	*'|'*)
		for word in ${1//|/ }; do
			[ "$word" = "${word^^}" ] || echo "$word"
		done
		;;
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

# Offer the options of a command ($1), or the values of the one that was typed. False: neither is due.
_ctxprop_option() {
	local current=${COMP_WORDS[COMP_CWORD]} argument
	argument=$(_ctxprop_argument "$1" "${COMP_WORDS[COMP_CWORD - 1]}")
	if [ -n "$argument" ]; then
		_ctxprop_offer "$(_ctxprop_values "$argument")" "$current"
	elif [[ $current == -* ]]; then
		_ctxprop_offer "$(_ctxprop_options "$1")" "$current"
	else
		false
	fi
}

_ctxprop() {
	local current=${COMP_WORDS[COMP_CWORD]} words=() i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) if [ -n "$(_ctxprop_argument "${words[0]}" "${COMP_WORDS[i]}")" ]; then ((i++)); fi ;;
		*) words+=("${COMP_WORDS[i]}") ;;
		esac
	done
	COMPREPLY=()
	if _ctxprop_option "${words[0]}"; then
		return
	fi
	if [ "${words[*]:0:2}" = "policy restore" ]; then
		[ "${#words[@]}" -gt 2 ] || _ctxprop_offer '<file>' "$current"
	else
		_ctxprop_offer "$(_ctxprop_words "${words[@]:-}")" "$current"
	fi
}

_ctxpropd() {
	COMPREPLY=()
	_ctxprop_option '' || true
}

complete -F _ctxprop ctxprop
complete -F _ctxpropd ctxpropd
