/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "spoiler.hpp"

#include "server.hpp"

namespace rpc_sim
{

Spoiler::Spoiler(Flaw flaw, const prism::ConnectionRecord & /*server*/, std::uint32_t depth)
	: flaw_(flaw), depth_(depth)
{
}

void Spoiler::before_server(Server &, Device &) {}
void Spoiler::after_server(Server &, Device &) {}
void Spoiler::before_client(Device &) {}

ibv_send_wr *Spoiler::on_post(ibv_send_wr *first)
{
	return first;
}

} // namespace rpc_sim
