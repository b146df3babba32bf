/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>

#include <prism/prism.hpp>

namespace prism::bench
{

/**
 * The device context of all clients of the calling thread, which any of them drives (Progress::caller); it lives as
 * long as the thread. With contexts of their own, clients would each be left alone while the thread polls the others,
 * and their engine threads would come to help: on few cores that helps nobody. Errors: those of Context::open().
 */
[[nodiscard]] Result<Context> context_of_thread(const std::string &device);

} // namespace prism::bench
