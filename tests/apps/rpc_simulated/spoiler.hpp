/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <vector>

#include "device.hpp"
#include "flaw.hpp"

namespace rpc_sim
{

class Server;

/** Breaks the protocol of one connection from outside: by what is posted, and by what is in memory. */
class Spoiler final : public Tamper
{
public:
	/** @p server: what it has told the client, which has @p depth slots. */
	Spoiler(Flaw flaw, const prism::ConnectionRecord &server, std::uint32_t depth);

	void before_server(Server &server, Device &client);
	void after_server(Server &server, Device &client);
	void before_client(Device &client);

	/* Tamper */
	ibv_send_wr *on_post(ibv_send_wr *first) override;

private:
	const Flaw flaw_;
	const std::uint32_t depth_;
};

} // namespace rpc_sim
