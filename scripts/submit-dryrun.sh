#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What would be sent if the series were submitted now: per topic, in the order in which the topics have to go, the mails
# that git send-email --dry-run prints, with the recipients that get_maintainer.pl names. Nothing is sent: there is no
# mail server in the configuration that git gets to see here, and its dry run is asked for besides.
#
# Each topic goes to maintainers of its own, as a series of its own with a cover letter (patches/TOPIC/cover.txt, if there
# is one, else what patches/topics says). What is in common/ goes in front of the first topic that is sent.
#
# Mails and a list of recipients are left in build/submit/TOPIC.

unset BASE	# what is for other bases is not sent
. "$(dirname "$0")/lib.sh"
unset TOPICS BASE_ONLY
choose_tree
[ -e "$TREE/.git" ] || die "there is no build/linux yet: 'make tree' first"
! edited || die "build/linux holds work that patches/ does not have: 'make series' first"
[ "$(recall key)" = "$(tree_key "$(recall base)")" ] || die "patches/ changed since build/linux was laid: 'make tree' first"
SENDER='vcpu-sched project <vcpu-sched@example.org>'
OUT=$BUILD/submit
rm -rf "$OUT"
mkdir -p "$OUT/home"

# git without anybody's configuration or mail server.
send_email() {
	env -i PATH="$PATH" HOME="$OUT/home" LC_ALL=C GIT_COMMITTER_NAME="${SENDER% <*}" GIT_COMMITTER_EMAIL=vcpu-sched@example.org \
		GIT_AUTHOR_NAME="${SENDER% <*}" GIT_AUTHOR_EMAIL=vcpu-sched@example.org GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null \
		git -C "$TREE" -c sendemail.smtpserver=/bin/false send-email --dry-run "$@" < /dev/null
}

# recipients PATCH...: one a line. Without git's history: who once touched a file does not want all of this.
maintainers() { (cd "$TREE" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-rolestats --no-l --m --r "$@"); }
lists() { (cd "$TREE" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-rolestats --l --no-m --no-r "$@"); }

# cover TOPIC N: subject, an empty line, text.
cover() {
	if [ -e "$TOP/patches/$1/cover.txt" ]; then
		sed "s/@BASE@/$(recall version)/" "$TOP/patches/$1/cover.txt"
		return
	fi
	printf 'vcpu-sched: %s\n\n' "$(sed -n "s/^$1 *| *\([^|]*[^| ]\) *|.*/\1/p" "$TOP/patches/topics")"
	sed "s/@BASE@/$(recall version)/" "$TOP/patches/cover.txt" | tail -n +3
}

# mails TOPIC DIR PATCH...: numbered copies of the patches, and the cover letter.
mails() {
	local topic=$1 dir=$2 n i=0 f number
	shift 2
	n=$#
	mkdir -p "$dir"
	for f; do
		i=$((i + 1))
		number=$(printf "%0${#n}d/%d" "$i" "$n")
		[ "$n" -gt 1 ] || number=
		sed "0,/^Subject: \[PATCH\]/s,^Subject: \[PATCH\],Subject: [PATCH${number:+ $number}]," "$TOP/patches/$f" > "$dir/$(printf %04d "$i")-${f##*/[0-9][0-9][0-9][0-9]-}"
	done
	[ "$n" -gt 1 ] || return 0
	{
		printf 'From: %s\nSubject: [PATCH %0*d/%d] ' "$SENDER" "${#n}" 0 "$n"
		cover "$topic"
		printf '\n'
		for f; do
			printf '  %s\n' "$(kgit mailinfo -b --encoding=UTF-8 /dev/null /dev/null < "$TOP/patches/$f" | sed -n 's/^Subject: //p')"
		done
		printf '\n'
		for f; do cat "$TOP/patches/$f"; done | kgit apply --stat --summary
	} > "$dir/0000-cover-letter.patch"
}

# send TOPIC PATCH...
send() {
	local topic=$1 dir=$OUT/$1 line
	local -a to=() files
	shift
	mails "$topic" "$dir" "$@"
	files=("$dir"/*.patch)
	maintainers "${@/#/$TOP/patches/}" > "$dir/to"
	lists "${@/#/$TOP/patches/}" > "$dir/cc"
	[ -s "$dir/to" ] || die "$topic: get_maintainer.pl names nobody"
	# A name may hold a comma or a bracket; the address is what counts.
	while read -r line; do to+=(--to "$(sed -E 's/^.*<(.*)>.*$/\1/; s/ \(.*\)$//' <<< "$line")"); done < "$dir/to"
	while read -r line; do to+=(--cc "$(sed -E 's/^.*<(.*)>.*$/\1/; s/ \(.*\)$//' <<< "$line")"); done < "$dir/cc"
	send_email --from "$SENDER" --suppress-cc=all --confirm=never --no-validate --thread --no-chain-reply-to "${to[@]}" "${files[@]}" \
		> "$dir/dry-run" 2>&1 || die "git send-email --dry-run refuses $topic: $(tail -n 1 "$dir/dry-run") (log: $(rel "$dir/dry-run"))"
	[ "$(grep -c '^Dry-OK' "$dir/dry-run")" -eq ${#files[@]} ] ||
		die "git send-email --dry-run did not take every mail of $topic (log: $(rel "$dir/dry-run"))"
	printf '\n%s: %d mails\n' "$topic" ${#files[@]}
	sed -n 's/^Subject: /  /p' "$dir/dry-run"
	sed 's/^/  to  /' "$dir/to"
	sed 's/^/  cc  /' "$dir/cc"
}

common=()
mapfile -t common < <(TOPICS=common series_files)
after=
for t in $(topics); do
	mapfile -t patches < <(TOPICS=$t series_files)
	if [ "$t" = common ] || [ ${#patches[@]} -eq 0 ]; then continue; fi
	send "$t" "${common[@]}" "${patches[@]}"
	[ "$t" != integration ] || echo "  only when all of the others are in one tree"
	after="$after${after:+, }$t"
	common=()
done
[ -n "$after" ] || die "patches/ has no topic to send"
unsigned=$(for f in $(series_files); do grep -q '^Signed-off-by: ' "$TOP/patches/$f" || echo "$f"; done | wc -l)
printf '\n'
say "in this order: $after; nothing was sent (mails are in $(rel "$OUT"))"
[ "$unsigned" -eq 0 ] || say "$unsigned patches have no Signed-off-by: whoever submits adds theirs (git am --signoff)"
