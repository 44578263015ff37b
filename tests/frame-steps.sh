#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What make targets run through: steps (order, failure, one run at a time, interruption), the test runner itself,
# the progress display, the set-up of packages.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"

export VCPU_SCHED_CACHE=$TMP/cache
W=$TMP/checkout
checkout "$W"
cd "$W" || exit 1

order() {
	scripts/steps.sh demo "first|echo one" "second|echo two" > "$TMP/out" &&
		same "$(sed 's/ [0-9]*:[0-9][0-9]//' "$TMP/out" | xargs -d '\n')" "[1/2] first one [2/2] second two demo: done in"
}
check "steps run in order, each with its number and the time so far" order
failing() {
	refused "demo: failed at step 2 of 3 (bad)" scripts/steps.sh demo "good|true" "bad|exit 7" "never|touch $TMP/never" && [ ! -e "$TMP/never" ]
	scripts/steps.sh demo "bad|exit 7" > /dev/null 2>&1
	same $? 7
}
check "a step that fails ends the run with its status" failing

# running COMMAND: start a long run in the background; sets PID when it is at work.
running() {
	rm -f "$TMP/at-work"
	scripts/steps.sh demo "long|$1" > "$TMP/long" 2>&1 &
	PID=$!
	for _ in $(seq 100); do
		[ ! -e "$TMP/at-work" ] || return 0
		sleep 0.1
	done
	return 1
}
twice() {
	running "touch $TMP/at-work; sleep 30" || return
	refused "another run is at work in this checkout: wait for it to end" make help tree
	local rc=$?
	same "$(make tree 2>&1 | grep -c 'tree: error')" 1 || rc=1
	kill $PID
	wait $PID
	return $rc
}
check "a second run in one checkout says so in one line, and fails" twice
again() { scripts/steps.sh demo "x|true"; }
check "the run after that is a normal one" again
nested() { scripts/steps.sh demo "outer|scripts/steps.sh inner 'inner|echo inside'" | grep -x inside; }
check "a step may be a run of its own" nested

# gone PID: it has ended, reaped or not.
gone() {
	case $(ps -o stat= -p "$1") in
	'' | Z*) ;;
	*) echo "process $1 lives on"; return 1 ;;
	esac
}

# interrupt SIGNAL: the family of a step, grandchildren that ignore signals among them, ends with the run.
interrupt() {
	local rc t
	running "(trap '' TERM INT; echo \$BASHPID > $TMP/stubborn; touch $TMP/at-work; while :; do sleep 0.2; done) & sleep 60; wait" || return
	kill "-$1" $PID
	t=$SECONDS
	wait $PID
	rc=$?
	[ $((SECONDS - t)) -lt 10 ] || { echo "took $((SECONDS - t)) s"; return 1; }
	gone "$(cat "$TMP/stubborn")" && grep 'demo: interrupted' "$TMP/long" && same $rc "$2"
}
check "ended from outside it takes all of its children along" interrupt TERM 143
check "so it does when its terminal goes away" interrupt HUP 129

# Ctrl-C as a terminal sends it: script gives make one of its own.
ctrl_c() {
	printf 'all: ; @scripts/steps.sh int '"'"'long|echo $$$$ > %s/int-pid; touch %s/at-work; sleep 60'"'\n" "$TMP" "$TMP" > "$W/Makefile.int"
	rm -f "$TMP/at-work"
	(
		for _ in $(seq 100); do [ ! -e "$TMP/at-work" ] || break; sleep 0.1; done
		sleep 0.3
		printf '\003'
		sleep 3
	) | timeout 30 script -qec "make -f Makefile.int" /dev/null > "$TMP/typescript" 2>&1
	rm -f "$W/Makefile.int"
	grep -a 'int: interrupted; nothing is half done' "$TMP/typescript" && grep -a 'Error 130' "$TMP/typescript" &&
		gone "$(cat "$TMP/int-pid")" && return
	cat "$TMP/typescript"
	return 1
}
if script -qec true /dev/null > /dev/null 2>&1; then
	check "Ctrl-C in the middle of a make" ctrl_c
else
	skip "Ctrl-C in the middle of a make" "no pseudo-terminal here"
fi

# The test runner, on tests that end in every way there is.
suite() { # NAME LINE...: a test script
	local name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" > "$TMP/$name.sh"
	chmod +x "$TMP/$name.sh"
}
last() { scripts/test.sh "$@" > "$TMP/out" 2>&1; echo "$? $(tail -n 1 "$TMP/out")"; }
suite good 'echo "ok 1 - a"' 'echo "ok 2 - b"' 'echo 1..2'
suite bad 'echo "ok 1 - a"' 'echo "not ok 2 - b"' 'echo "# why b failed"' 'echo 1..2' 'exit 1'
suite skips 'echo "ok 1 - a # SKIP no /dev/kvm"' 'echo 1..1'
suite dies 'echo "ok 1 - a"' 'echo trouble >&2' 'exit 3'
suite short 'echo "ok 1 - a"' 'echo 1..2'
suite mute 'exit 0'
suite hangs 'echo "ok 1 - a"' 'sleep 60'
runner_ok() { same "$(last "$TMP/good.sh")" "0 2 passed, 0 failed"; }
check "runner: all passed" runner_ok
runner_bad() {
	same "$(last "$TMP/good.sh" "$TMP/bad.sh")" "1 3 passed, 1 failed" && grep 'FAILED.*b (log: build/log/test-bad.log)' "$TMP/out" &&
		grep 'why b failed' "$TMP/out"
}
check "runner: a failed one is counted, with its reason and its log" runner_bad
runner_skip() { same "$(last "$TMP/good.sh" "$TMP/skips.sh")" "0 2 passed, 0 failed, 1 skipped" && grep 'skipped.*no /dev/kvm' "$TMP/out"; }
check "runner: a skipped one is counted, with its reason" runner_skip
runner_dies() { same "$(last "$TMP/dies.sh")" "1 1 passed, 1 failed" && grep 'ended with status 3' "$TMP/out"; }
check "runner: a script that dies is a failure" runner_dies
runner_short() { same "$(last "$TMP/short.sh")" "1 1 passed, 1 failed" && grep '1 results where its plan says 2' "$TMP/out"; }
check "runner: so is one that stops before its plan" runner_short
runner_mute() { same "$(last "$TMP/mute.sh")" "1 0 passed, 1 failed"; }
check "runner: so is one that says nothing" runner_mute
runner_hangs() { same "$(TEST_LIMIT=2 last "$TMP/hangs.sh")" "1 1 passed, 1 failed" && grep 'longer than its limit' "$TMP/out"; }
check "runner: so is one that hangs" runner_hangs
runner_none() { same "$(last "$TMP/nowhere.sh")" "1 0 passed, 1 failed"; }
check "runner: nothing to run is no success" runner_none

# The progress display.
make -s build/bin/progress || exit 1
progress() { build/bin/progress -l "$TMP/plog" "$@"; }
counts() {
	rm -f "$TMP/plog"
	same "$(progress -n 10 -t kernel -- sh -c 'echo "  CC      a.o"; echo "  AS      b.o"; echo "  LD      c.o"; printf "  CC      d.o"')" "kernel: 2 objects, 0:00" &&
		same "$(wc -l < "$TMP/plog")" 3
}
check "progress: counts objects and logs everything" counts
tells() {
	progress -- sh -c 'echo "  CC      a.o"; echo "a.c:3:1: error: no such thing" >&2; echo "make[1]: *** [a.o] Error 1"; exit 2' > "$TMP/out"
	same "$? $(tail -n 1 "$TMP/out")" "2   a.c:3:1: error: no such thing"
}
check "progress: on failure the compiler's words, and its status" tells
resorts() {
	progress -- sh -c 'echo "make: *** No rule to make target"; exit 2' > "$TMP/out"
	same "$? $(tail -n 1 "$TMP/out")" "2   make: *** No rule to make target"
}
check "progress: or else make's" resorts
nothing() { progress -- /nonexistent > "$TMP/out"; same $? 127 && grep 'No such file' "$TMP/out"; }
check "progress: a command that does not exist" nothing
stops() {
	build/bin/progress -l "$TMP/plog" -- sh -c "echo \$\$ > $TMP/pp; exec sleep 60" > /dev/null &
	local pid=$!
	sleep 1
	kill $pid
	wait $pid
	same $? 143 && gone "$(cat "$TMP/pp")"
}
check "progress: ended, it ends the command" stops

# The set-up: an apt-get and an id of our own stand for other machines.
mkdir "$TMP/path"
fake() { printf '#!/bin/sh\n%s\n' "$2" > "$TMP/path/$1"; chmod +x "$TMP/path/$1"; }
for c in bash sh dirname basename mkdir grep sed tail cat env date; do ln -s "$(command -v $c)" "$TMP/path/$c"; done
need() { PATH=$TMP/path scripts/need.sh source; }
no_apt() { refused "missing here: git patch xz-utils make (the names are Debian's packages): install them" need; }
check "packages: no apt-get here" no_apt
fake apt-get 'exit 100'
fake id 'echo 1000'
not_root() { refused "run 'sudo apt-get install git patch xz-utils make'" need; }
check "packages: not root" not_root
fake id 'echo 0'
fake apt-get 'echo "E: Unable to locate package git"; exit 100'
cannot() { refused "apt-get cannot install git patch xz-utils make: Unable to locate package git" need; }
check "packages: apt-get cannot" cannot
fake apt-get "echo \"\$@\" >> $TMP/apt"
installs() { need > "$TMP/out" && same "$(cat "$TMP/out")" "need: installing git patch xz-utils make (apt-get)" && grep -- '--no-install-recommends git patch xz-utils make' "$TMP/apt"; }
check "packages: root installs what is missing, in one line" installs

tap_end
