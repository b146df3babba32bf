/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>

#include "device.hpp"
#include "flaw.hpp"

namespace rpc_sim
{

/**
 * Breaks the protocol of one connection from outside, by what is posted and by what is in memory: what links and
 * channels would do if a rule of theirs was not there.
 */
class Spoiler
{
public:
	Spoiler() = default;
	Spoiler(const Spoiler &) = delete;
	Spoiler &operator=(const Spoiler &) = delete;
	virtual ~Spoiler() = default;

	/** Null if @p flaw needs none. @p server: what it has told the client, which has @p depth slots. */
	static std::unique_ptr<Spoiler> of(Flaw flaw, const prism::ConnectionRecord &server, std::uint32_t depth);

	/** @p first is about to be posted by @p client; the list that is, instead. */
	virtual ibv_send_wr *on_post(Device & /*client*/, ibv_send_wr *first) { return first; }
	/* Around the turns of both sides */
	virtual void before_server(Device & /*server*/) {}
	virtual void after_server(Device & /*server*/) {}
	virtual void before_client(Device & /*client*/) {}
};

} // namespace rpc_sim
