/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/gam/simulated/one_sided.hpp"

namespace gam_test
{

using prism::gam::simulated::Answer;
using prism::gam::simulated::OneSidedMemory;
using prism::gam::simulated::Recorder;
using prism::gam::simulated::Request;
using prism::gam::simulated::Responder;

} // namespace gam_test
