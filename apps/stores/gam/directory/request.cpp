/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/request.hpp"

#include <cerrno>
#include <new>

namespace prism::gam::directory
{

int Requests::take(NodeId from, std::size_t bytes, Request *&request) noexcept
try {
	if (taken_[from] >= limit_)
		return ENOBUFS;
	if (free_.empty()) {
		free_.reserve(all_.size() + 1); /* so that give_back() needs no memory */
		free_.push_back(&all_.emplace_back());
	}
	free_.back()->buffer.reserve(bytes);
	request = free_.back();
	free_.pop_back();
	taken_[from]++;
	request->progress = for_another;
	request->from = from;
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

void Requests::give_back(Request &request) noexcept
{
	taken_[request.from]--;
	request = Request();
	free_.push_back(&request);
}

} // namespace prism::gam::directory
