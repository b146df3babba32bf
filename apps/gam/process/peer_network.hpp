/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <memory>

#include "gam/coherence/network.hpp"
#include "gam/peer/peers.hpp"

namespace prism::gam
{

/** The queue pairs to a node's peers, as the node's network. */
class PeerNetwork final : public Network, private Peers::Listener
{
public:
	PeerNetwork(PeerDevice device, const PeerOptions &options) : peers_(std::move(device), options, *this) {}

	[[nodiscard]] Peers &peers() noexcept { return peers_; }

	/* Network */
	void send(NodeId to, const Message &message) noexcept override { (void)peers_.send(to, message); }
	void flush() noexcept override { peers_.flush(); }
	std::size_t poll(Network::Listener &listener) noexcept override
	{
		listener_ = &listener;
		return static_cast<std::size_t>(peers_.poll());
	}
	void leave_alone() noexcept override { peers_.device().leave_alone(); }

private:
	/* Peers::Listener, inside of poll() */
	void heard(NodeId from, const Message &message) override { listener_->heard(from, message); }

	Network::Listener *listener_ = nullptr; /* of the poll that is under way */
	Peers peers_;
};

} // namespace prism::gam
