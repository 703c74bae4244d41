# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# request.sh: serves one request of the connection that it has as its standard input and output, as
# inetd makes it; its calls are made by curl. The target is the plan, as of request.py; MODE is how
# it runs curl: s as a command whose output it takes, p in a pipeline. Environment: UPSTREAM.
return_character=$(printf '\r')
read -r _ target _
while read -r line; do
	line=${line%"$return_character"}
	case $line in
	'') break ;;
	[xX]-[tT]ruth:*) truth=${line#*: } ;;
	esac
done

call() {
	curl -s -H "x-truth: $truth" "$UPSTREAM"
}

pause() {
	[ "$1" = 0 ] || sleep "$(printf '0.%03d' "$1")"
}

IFS=/
# shellcheck disable=SC2086 # it is to be split
set -- $target
before=$2 between=$3 after=$4 calls=$5 mode=$6
unset IFS
pause "$before"
while [ "$calls" -gt 0 ]; do
	if [ "$mode" = p ]; then
		call | cat >/dev/null
	else
		answer=$(call)
	fi
	calls=$((calls - 1))
	[ "$calls" = 0 ] || pause "$between"
done
pause "$after"
printf 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n%s' "${answer:-ok}"
