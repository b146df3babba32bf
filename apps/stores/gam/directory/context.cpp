/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/context.hpp"

namespace prism::gam::directory
{

void Context::send(NodeId to, Type type, Message message)
{
	if (is_dead(to))
		return;
	message.type = static_cast<std::uint8_t>(type);
	stats_.messages++;
	host_.send(to, message);
}

void Context::end(Access &access, int error) noexcept
{
	access.error = error;
	if (&access == starting_)
		starting_ = nullptr;
	else
		ended_.push(access);
}

void Context::deliver()
{
	if (delivering_)
		return;
	delivering_ = true;
	while (!ended_.empty())
		host_.ended(ended_.pop());
	delivering_ = false;
}

} // namespace prism::gam::directory
