# Okabe and Ito's colours, which everyone tells apart: one a deployment, in
# the order of the scenario.
set linetype 1 lc rgb "#0072B2" lw 2
set linetype 2 lc rgb "#D55E00" lw 2
set linetype 3 lc rgb "#009E73" lw 2
set linetype 4 lc rgb "#CC79A7" lw 2
set linetype 5 lc rgb "#E69F00" lw 2
set linetype 6 lc rgb "#56B4E9" lw 2
set linetype 7 lc rgb "#000000" lw 2
set linetype 8 lc rgb "#888800" lw 2
set linetype cycle 8
