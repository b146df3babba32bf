/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/one_sided/lost_buffers.hpp"

namespace prism::gam::latch
{

void LostBuffers::hear(NodeId from, std::uint64_t round) noexcept
{
	if (from < max_nodes && round == round_)
		awaited_ &= ~bit(from);
}

void LostBuffers::step()
{
	while (advance()) {}
}

/** Advances by one stage. Returns false if it has to wait. */
bool LostBuffers::advance()
{
	switch (stage_) {
	case Stage::idle:
		if (!is_wanted_ || !host_.mark())
			return false;
		is_wanted_ = false;
		stage_ = Stage::settling;
		ask_all();
		return true;
	case Stage::settling:
		if (awaited_)
			return false;
		stage_ = Stage::sparing;
		return true;
	case Stage::sparing:
		if (!host_.spare_some())
			return false;
		stage_ = Stage::settling_again;
		ask_all();
		return true;
	case Stage::settling_again:
		if (awaited_)
			return false;
		host_.collect();
		stage_ = Stage::idle;
		return true;
	}
	return false;
}

void LostBuffers::ask_all()
{
	round_++;
	awaited_ = host_.reachable();
	for_each_node(awaited_, [this](NodeId node) { host_.ask(node, round_); });
}

} // namespace prism::gam::latch
