/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/view.hpp"

#include <algorithm>

namespace prism::gam
{

const Member *View::find(NodeId node) const noexcept
{
	const auto found = std::find_if(
		members.begin(), members.end(), [node](const Member &member) { return member.life.node == node; });
	return found == members.end() ? nullptr : &*found;
}

const Member *View::find_live(const NodeLife &life) const noexcept
{
	const Member *const member = find(life.node);
	return member && member->life == life && member->live() ? member : nullptr;
}

} // namespace prism::gam
