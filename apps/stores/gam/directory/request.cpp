/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/request.hpp"

namespace prism::gam::directory
{

Request *Requests::take(NodeId from)
{
	if (taken_[from] >= limit_)
		return nullptr;
	if (free_.empty()) {
		free_.reserve(all_.size() + 1); /* so that give_back() needs no memory */
		free_.push_back(&all_.emplace_back());
	}
	Request &request = *free_.back();
	free_.pop_back();
	taken_[from]++;
	request.progress = for_another;
	request.from = from;
	return &request;
}

void Requests::give_back(Request &request) noexcept
{
	taken_[request.from]--;
	request = Request();
	free_.push_back(&request);
}

} // namespace prism::gam::directory
