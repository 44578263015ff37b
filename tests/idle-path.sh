#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With kernel.halt_poll_threshold at 0 the idle path executes what the base's does, and nops.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

IMAGE=build/kernel-lab$SUFFIX/vmlinux
OBJECT=kernel/sched/build_policy.o BASE_OUT=build/kernel-nopv$SUFFIX-base

# path FILE [CALLED]: the instructions of do_idle() that can be reached as the file stands, sorted, nops left out, addresses
# blanked, and conditional jumps without their sense: all of that depends on where the compiler and the linker put what.
# CALLED: and those from the call of that function on, as if it were reached.
path() {
	objdump -dr --no-show-raw-insn --disassemble=do_idle "$1" | awk -F '\t' -v also="${2:-}" '
		/R_X86_64_/ { moved[last] = 1; next }	# a relocated jump leaves the function
		/^ *[0-9a-f]+:\t/ {
			last = $1
			gsub(/[ :]/, "", last)
			next_of[previous] = last
			previous = last
			sub(/ *#.*/, "", $2)
			insn[last] = $2
			if (first == "")
				first = last
			if (also != "" && $2 ~ "<" also ">")
				later[++n] = last
		}
		function walk(at,    name, target) {
			while (at in insn && !(at in seen)) {
				seen[at] = 1
				split(insn[at], word, " ")
				name = word[1]
				target = name ~ /^j/ && !(at in moved) ? word[2] : ""
				if (name !~ /^(nop|data16|cs$)/ && insn[at] !~ /^xchg +%ax,%ax/ && (name != "jmp" || !(target in insn))) {
					line = insn[at]
					gsub(/ +<.*>/, "", line)
					gsub(/(0x)?[0-9a-f]{3,}|0x[0-9a-f]+/, "N", line)
					if (name ~ /^(call|j)/)
						line = name ~ /^j/ && name != "jmp" ? "jcc" : name
					print line
				}
				if (name == "jmp") {
					at = target
					continue
				}
				if (target in insn)
					later[++n] = target
				at = name ~ /^ret/ ? "" : next_of[at]
			}
		}
		END {
			walk(first)
			for (i = 1; i <= n; i++)
				walk(later[i])
		}' | sort
}

base() { BASE_ONLY=1 scripts/tree.sh && BASE_ONLY=1 CONFIG=nopv OBJECTS=$OBJECT scripts/kernel.sh; }
check 'the image and an object of the base are there' eval 'scripts/kernel.sh && base'

path "$BASE_OUT/$OBJECT" >"$TMP/base"
path "$IMAGE" >"$TMP/image"
several() { [ "$(wc -l <"$1")" -gt 50 ] || { wc -l "$1"; return 1; }; }
check 'the base has an idle path to compare with' several "$TMP/base"
check 'with the threshold 0 nothing is added but nops' diff -u "$TMP/base" "$TMP/image"

# Were the key on in the image, or the hook no static branch, the comparison would have to show it: here as a jump in the
# place of the nop.
polls() {
	grep -q 'call.*<pv_idle_poll>' <(objdump -d --disassemble=do_idle "$IMAGE") || { echo 'no call of pv_idle_poll()'; return 1; }
	path "$IMAGE" pv_idle_poll >"$TMP/on"
	grep -q . <(comm -13 "$TMP/base" "$TMP/on")
}
check 'with a hook that is taken the comparison shows it' polls

tap_end
