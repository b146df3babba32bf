/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the tools print to stdout: perftest's layout, with a line for each contestant where several compete. */
#pragma once

#include <vector>

#include "common/endpoint.hpp"
#include "drivers/run.hpp"

namespace prism::perftest
{

void print_waiting(const Parameters &parameters);

/** The parameters of the run and the head of the table. */
void print_header(const Parameters &parameters, const Endpoint &end, const Geometry &plan);

/** All contestants, one size or several; with ratios if more than one competes. */
void print_rows(const Parameters &parameters, const std::vector<Row> &rows);

} // namespace prism::perftest
