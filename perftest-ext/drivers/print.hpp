/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Output of the tools to stdout: perftest's layout, with a line for each contestant if several compete. */
#pragma once

#include <vector>

#include "common/endpoint.hpp"
#include "drivers/run.hpp"

namespace prism::perftest
{

void print_waiting(const Parameters &parameters);

/** Prints the parameters of the run and the head of the table. */
void print_header(const Parameters &parameters, const Endpoint &end, const Geometry &plan);

/** Prints all contestants, for one size or several; with ratios if more than one competes. */
void print_rows(const Parameters &parameters, const std::vector<Row> &rows);

} // namespace prism::perftest
