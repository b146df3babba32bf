/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>

#include "device.hpp"
#include "flaw.hpp"

namespace rpc_sim
{

/**
 * Breaks the protocol of one connection from outside, through posted requests and memory, as if links and channels had
 * lost one of their rules.
 */
class Spoiler
{
public:
	Spoiler() = default;
	Spoiler(const Spoiler &) = delete;
	Spoiler &operator=(const Spoiler &) = delete;
	virtual ~Spoiler() = default;

	/** Returns null if @p flaw needs no spoiler. @p server: the record for the client, which has @p depth slots. */
	static std::unique_ptr<Spoiler> of(Flaw flaw, const prism::ConnectionRecord &server, std::uint32_t depth);

	/** Called before @p client posts @p first. Returns the list to post instead. */
	virtual ibv_send_wr *on_post(Device & /*client*/, ibv_send_wr *first) { return first; }
	/* Called before or after the turns of both sides */
	virtual void before_server(Device & /*server*/) {}
	virtual void after_server(Device & /*server*/) {}
	virtual void before_client(Device & /*client*/) {}
};

} // namespace rpc_sim
