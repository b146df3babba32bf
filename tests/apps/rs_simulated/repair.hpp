/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <vector>

#include "client.hpp"
#include "random.hpp"
#include "rs/store/repair_protocol.hpp"

namespace rs_sim
{

/** Conversation of a repair with replicas. No message is lost while the connections exist. */
class RepairTalk
{
public:
	virtual ~RepairTalk() = default;
	/** Sends @p message; the answer arrives later at the repair's protocol. */
	virtual void tell(unsigned replica, const prism::apps::ControlMessage &message) = 0;
};

/** prism::rs::RepairProtocol over a client in virtual time. */
class Repair final : private prism::rs::RepairClient
{
public:
	/** @p client: the repair's. */
	Repair(Client &client, const prism::rs::RepairRules &rules, Flaw flaw, prism::test::Random &random,
		RepairTalk &talk);

	[[nodiscard]] prism::rs::RepairProtocol &protocol() noexcept { return protocol_; }
	/** Goes on as far as possible now. */
	void poll();
	/** Called when @p operation of the client has ended. */
	void ended(prism::apps::Operation &operation);

private:
	/* RepairClient */
	[[nodiscard]] std::optional<std::uint64_t> new_epoch() noexcept override;
	void tell(unsigned replica, const prism::apps::ControlMessage &message) noexcept override;
	bool copy(std::uint64_t block) noexcept override;

	Client &client_;
	const unsigned replica_;
	const Flaw flaw_;
	prism::test::Random &random_;
	RepairTalk &talk_;
	std::vector<prism::apps::Operation> operations_;
	std::vector<prism::apps::Operation *> idle_;
	prism::rs::RepairProtocol protocol_;
};

} // namespace rs_sim
