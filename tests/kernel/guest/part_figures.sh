# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086 # from lib.sh and main.sh; words without spaces
# Figures of the module by prism_figures. Not part of the check: timings are no assertions. FIGURES_ARGUMENTS: options
# for how much it measures.

figures_run() {
	[ -x "$PRISM_BUILD/bin/prism_figures" ] || skip "no build tree with prism_figures"
	python3 -B "$PRISM_BUILD/bin/prism_figures" --path kernel --figures operations --no-figures -d "$DEVICE" \
		--host 10.9.1.1 ${FIGURES_ARGUMENTS:---rounds 1 -n 50} --out "$RESULTS/$MACHINE"
}

group_figures() {
	part "$KIND figures device" base_device
	PART_SECONDS=1200 part "figures" figures_run
}
