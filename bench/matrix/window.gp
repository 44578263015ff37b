# SPDX-License-Identifier: GPL-2.0-only
# The polling windows of the guest's vCPUs under a steady load:
#   gnuplot -e "csv='window.csv'; png='window.png'" window.gp
# The lines of window.csv: REGIME,CONFIG,CPU,SECONDS,window|backoff,NS.

if (!exists("csv") || !exists("png")) {
	print "usage: gnuplot -e \"csv='window.csv'; png='window.png'\" window.gp"
	exit status 2
}

set datafile separator ","

# One vCPU's lines of one kind; if there are none, one out of sight.
of(regime, config, cpu, what) = sprintf("< awk -F, -v OFS=, '" . \
	"$1 == \"%s\" && $2 == \"%s\" && $3 == %d && $5 == \"%s\" { print $4, $6; n++ } " . \
	"END { if (!n) print -1, 1 }' '%s'", regime, config, cpu, what, csv)
# A window of 0 has no place on a log scale: at the bottom.
ms(ns) = ns > 0 ? ns / 1e6 : 0.005

regimes = "pair hogged"
configs = "P WYP"
beside(regime) = regime eq "pair" ? "beside a guest with the same settings" : "beside a guest that computes"

set terminal pngcairo size 1200,760 font "sans,11" background "white"
set output png
set multiplot layout 2,2 title "Polling windows while two threads of a guest play ping-pong"

set border 3
set tics nomirror
set logscale y
set xrange [0 : 10]
set yrange [0.004 : 50000]
set ytics ("0" 0.005, "10 us" 0.01, "100 us" 0.1, "1 ms" 1, "10 ms" 10, "100 ms" 100, "1 s" 1000)
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set xlabel "seconds"
set key top right horizontal

do for [i = 1:2] {
	do for [j = 1:2] {
		r = word(regimes, i)
		c = word(configs, j)
		set title sprintf("%s, %s", c, beside(r))
		plot for [cpu = 0:1] of(r, c, cpu, "window") using 1:(ms($2)) \
				with steps lw 1.5 lc rgb (cpu ? "#d07000" : "#2060a0") \
				title sprintf("window, vCPU %d", cpu), \
			for [cpu = 0:1] of(r, c, cpu, "backoff") using 1:(ms($2)) \
				with points pt (cpu ? 5 : 7) ps 0.5 lc rgb (cpu ? "#80d07000" : "#802060a0") \
				title sprintf("back-off, vCPU %d", cpu)
	}
}
unset multiplot
