/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/connection.hpp>

#include <atomic>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "gam/membership/membership.hpp"

namespace prism::gam
{

/** A channel to a MasterService. */
class TcpMaster final : public MasterChannel
{
public:
	/** @p patience: for each question. Does not connect yet. */
	TcpMaster(std::string host, std::uint16_t port, std::chrono::milliseconds patience);

	Result<nlohmann::json> ask(const nlohmann::json &question, Time longest) override;
	void cancel() noexcept override;

private:
	/** Longest valid answer; a view of all members is shorter. */
	static constexpr std::size_t longest_answer = 65536;

	Result<void> connect(Deadline deadline);
	[[nodiscard]] int wait_for(short events, Deadline deadline) const;
	Result<void> say(const std::string &line, Deadline deadline);
	Result<std::string> hear(Deadline deadline);

	std::string host_;
	std::uint16_t port_;
	std::chrono::milliseconds patience_;
	std::optional<TcpRendezvous> link_;
	Descriptor wake_; /* for cancel() */
	std::atomic<bool> cancelled_{false};
};

} // namespace prism::gam
