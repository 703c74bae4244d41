# SPDX-License-Identifier: Apache-2.0
# Completion of ctxprop for bash; installed as bash-completion/completions/ctxprop.

# The last option that takes a value, or the words of a rule, decide what comes next.
_ctxprop_rule() {
	case $1 in
	dir) echo out in forward ;;
	dev) ls /sys/class/net 2>/dev/null ;;
	action) echo inject observe restart strip skip accept ignore ;;
	root | tracestate) echo yes no ;;
	from | to) echo any; _ctxprop_sets ;;
	prio | port | cgroup | host | sample) ;;
	*) echo prio dir dev from to port cgroup host action sample root tracestate ;;
	esac
}

_ctxprop_sets() {
	ctxprop set 2>/dev/null | sed -n 's/^\([^[:space:]].*\):$/\1/p'
}

_ctxprop_words() {
	local command=$1 verb=$2 previous=$3
	case $command in
	'') echo trace top map why who logs sql profile stats flows policy set monitor doctor pause resume attach detach drain ;;
	policy)
		case $verb in
		'') echo show add replace del flush save restore ;;
		add | replace) _ctxprop_rule "$previous" ;;
		del) [ "$previous" = prio ] || echo prio ;;
		esac
		;;
	attach | detach)
		case $previous in
		netns) ls /run/netns 2>/dev/null ;;
		"$command") echo netns; ls /sys/class/net 2>/dev/null ;;
		*) echo netns ;;
		esac
		;;
	set)
		case $verb in
		'') echo show; _ctxprop_sets ;;
		*) [ "$previous" = "$verb" ] && echo add del show flush ;;
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
		echo --json --color --duration --frequency --pid --cgroup --endpoint --bucket --trace --requests \
			--output --format --ids --store --help
		;;
	top) echo --json --oneline --color --number --sort --last --store --help ;;
	map) echo --json --oneline --color --last --store --help ;;
	logs) echo --journal --unit --since --stdin --store --statistics --help ;;
	sql) echo --json --oneline --color --store --attach --help ;;
	why) echo --json --oneline --color --store --help ;;
	*) echo --json --oneline --color --help ;;
	esac
}

_ctxprop() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' verb='' i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns) ((i++)) ;;
		-*) ;;
		*)
			if [ -z "$command" ]; then
				command=${COMP_WORDS[i]}
			elif [ -z "$verb" ]; then
				verb=${COMP_WORDS[i]}
			fi
			;;
		esac
	done
	COMPREPLY=()
	case $previous in
	-n | --netns) mapfile -t COMPREPLY < <(compgen -W "$(ls /run/netns 2>/dev/null)" -- "$current") ;;
	*)
		case $current in
		-*) mapfile -t COMPREPLY < <(compgen -W "$(_ctxprop_options "$command")" -- "$current") ;;
		*)
			if [ "$command $verb" = "policy restore" ]; then
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			else
				mapfile -t COMPREPLY < <(compgen -W \
					"$(_ctxprop_words "$command" "$verb" "$previous")" -- "$current")
			fi
			;;
		esac
		;;
	esac
}

complete -F _ctxprop ctxprop
