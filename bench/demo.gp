# SPDX-License-Identifier: GPL-2.0-only
# The demo's plot, from its raw data:
#   gnuplot -e "csv='demo.csv'; png='demo.png'" demo.gp
# Left: every measured round trip per threshold, on a log scale, with the median.
# Right: VM exits per round trip.

if (!exists("csv") || !exists("png")) {
	print "usage: gnuplot -e \"csv='demo.csv'; png='demo.png'\" demo.gp"
	exit status 2
}

set datafile separator ","

# The thresholds that occur; place(t) is how many of them are smaller.
seen = " "
remember(t) = (strstrt(seen, sprintf(" %d ", t)) ? 0 : (seen = seen . sprintf("%d ", t)), 0)
stats csv every ::1 using (remember($2)) nooutput
place(t) = sum [i = 1:words(seen)] (word(seen, i) + 0 < t)
label(t) = t == 0 ? "off" : t < 1e6 ? sprintf("%g us", t / 1e3) : sprintf("%g ms", t / 1e6)

# The medians, as lines "place,median".
set print $median
do for [i = 1:words(seen)] {
	t = word(seen, i) + 0
	stats csv every ::1 using ($2 == t ? $3 / 1e3 : NaN) name "M" nooutput
	print sprintf("%d,%g", place(t), M_median)
}
unset print

# Points of one threshold beside each other in the order of the reps.
stats csv every ::1 using 1 name "R" nooutput
spread(rep) = R_max > R_min ? ((rep - R_min) / (R_max - R_min) - 0.5) * 0.5 : 0

# For the ranges of both plots; stats itself goes by the ranges that are set.
stats csv every ::1 using ($3 / 1e3) name "NS" nooutput
stats csv every ::1 using ($4 > $5 ? $4 : $5) name "EXITS" nooutput

set terminal pngcairo size 1200,560 font "sans,12" background "white"
set output png
set multiplot layout 1,2 title "Pipe ping-pong between two vCPUs, guest halt polling off and on"

set xrange [-0.6 : words(seen) - 0.4]
set xlabel "kernel.halt\\_poll\\_threshold"
do for [i = 1:words(seen)] {
	t = word(seen, i) + 0
	if (i == 1) { set xtics nomirror (label(t) place(t)) } else { set xtics add (label(t) place(t)) }
}
set border 3
set ytics nomirror
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"

set ylabel "us per round trip"
set logscale y
set yrange [10 ** floor(log10(NS_min * 0.99)) : 10 ** ceil(log10(NS_max * 1.5))]
set key top right
plot csv every ::1 using (place($2) + spread($1)):($3 / 1e3) \
		with points pt 7 ps 1.1 lc rgb "#802060a0" title "one repetition", \
	$median using 1:2:(0.32) with xerrorbars pt -1 lw 2.5 lc rgb "#c03020" title "median", \
	$median using ($1 + 0.36):2:(sprintf($2 >= 100 ? "%.0f" : "%.3g", $2)) \
		with labels left textcolor rgb "#c03020" notitle

unset logscale y
set yrange [0 : EXITS_max > 0 ? EXITS_max * 1.25 : 1]
set ylabel "VM exits per round trip"
plot csv every ::1 using (place($2) - 0.15 + spread($1) / 2):4 \
		with points pt 7 ps 1.1 lc rgb "#60308050" title "all exits", \
	csv every ::1 using (place($2) + 0.15 + spread($1) / 2):5 \
		with points pt 5 ps 1.1 lc rgb "#60d07000" title "halt exits"
unset multiplot
