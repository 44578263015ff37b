# SPDX-License-Identifier: GPL-2.0-only
# The report's plots, run by bench/report.c in the folder of its data:
#   gnuplot -e "what='latency'" plots.gp		(latency, clients or percentiles)

if (!exists("what")) {
	print "usage: gnuplot -e \"what='latency'\" plots.gp"
	exit status 2
}

set border 3
set tics nomirror
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set output what . ".svg"
data = what . ".dat"
array colour[8] = ["#2060a0", "#c03020", "#308050", "#d07000", "#703090", "#606060", "#a08000", "#0090a0"]

# An empty block has no blocks' count in older versions of gnuplot.
blocks(file) = int(system(sprintf("awk 'NF == 1 || /^\"/ { n++ } END { print n + 0 }' %s", file)))

if (what eq "latency") {
	set terminal svg size 1000,760 font "sans,13" background "white"
	set multiplot layout 2,1
	refs = int(system(sprintf("grep -c '^\"' %s || true", data)))
	ref_name(i) = system(sprintf("grep '^\"' %s | sed -n '%ds/^\"\\([^\"]*\\)\".*/\\1/p'", data, i))
	ref_value(i, column) = real(system(sprintf("grep '^\"' %s | awk 'NR == %d { print $%d }'", data, i, column)))
	set logscale x
	set format x "%g"
	set xlabel "kernel.halt\\_poll\\_threshold, ms (200 times that of hardware)"
	set key outside right
	set logscale y
	set ylabel "us per round trip"
	plot data index 0 using ($1/1e6):($2/1e3):($3/1e3):($4/1e3) with yerrorlines pt 7 lw 1.5 \
			lc rgb colour[1] title "threshold", \
		for [i = 1:refs] ref_value(i, 2) / 1e3 with lines dt 2 lc rgb colour[1 + i % 7 + (i % 7 == 0)] title ref_name(i)
	unset logscale y
	set yrange [0:*]
	set ylabel "%CPU of the guest in the host"
	plot data index 0 using ($1/1e6):5 with linespoints pt 7 lw 1.5 lc rgb colour[1] title "threshold", \
		for [i = 1:refs] ref_value(i, 3) with lines dt 2 lc rgb colour[1 + i % 7 + (i % 7 == 0)] title ref_name(i)
	unset multiplot
} else {
	set terminal svg size 1000,460 font "sans,13" background "white"
	n = blocks(data)
	set key outside right
	if (what eq "clients") {
		set xlabel "tbench clients in each guest"
		set ylabel "MB/s, both guests"
		set xrange [0:8]
		set yrange [0:*]
		plot for [i = 0:n - 1] data index i using ($1 + 0.06 * (i - n / 2)):2:3:4 with yerrorlines \
			pt 7 lw 1.5 lc rgb colour[1 + i % 8] title columnheader(1)
	} else {
		set xlabel "percentile"
		set ylabel "us until a worker runs"
		set logscale y
		set xrange [-0.5:2.5]
		set xtics ("50th" 0, "99th" 1, "99.9th" 2)
		plot for [i = 0:n - 1] data index i using ($0 + 0.04 * (i - n / 2)):($2/1e3):($3/1e3):($4/1e3) \
			with yerrorlines pt 7 lw 1.5 lc rgb colour[1 + i % 8] title columnheader(1)
	}
}
