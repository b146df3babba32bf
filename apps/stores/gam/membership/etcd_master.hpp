/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <chrono>
#include <random>

#include "gam/membership/master_desk.hpp"
#include "gam/membership/membership.hpp"
#include "service/etcd.hpp"

namespace prism::gam
{

/**
 * A master that the members play by turns (master.hpp): the state is one key in etcd. Each question loads it, answers,
 * and stores it, unless it was stored by another member meanwhile; then it begins again. Values of put() have their own
 * keys beside it, and are stored under the same condition. If the key is removed, there are no members any more.
 */
class EtcdMaster final : public MasterChannel
{
public:
	/**
	 * @param lease length of leases, if the key does not exist yet  @param patience for each question
	 * @param history revisions of which etcd keeps what they have replaced; at most twice as many
	 */
	EtcdMaster(apps::EtcdKey key, Time lease, std::chrono::milliseconds patience, std::uint64_t history)
		: key_(std::move(key)), lease_(lease), patience_(patience), history_(history), master_(0, lease)
	{
		key_.cancel_by(cancelled_);
	}

	/** Waits @p longest for each of its answers, of which a turn needs two. */
	Result<nlohmann::json> ask(const nlohmann::json &question, Time longest) override;
	/** Unlimited: each renewal is two turns of etcd, in which the members get in each other's way. */
	[[nodiscard]] Time longest_pause() const noexcept override { return Time::max(); }
	void cancel() noexcept override { cancelled_ = true; }

private:
	Result<nlohmann::json> turn(const std::string &what, const nlohmann::json &question, bool &lost);
	void forget_history(std::uint64_t before, std::uint64_t now);
	Result<nlohmann::json> put(const nlohmann::json &question, std::uint64_t number, bool &lost);
	Result<nlohmann::json> find(const nlohmann::json &question);
	Result<apps::EtcdKey> value_key(const nlohmann::json &question) const;

	std::atomic<bool> cancelled_{false};
	apps::EtcdKey key_;
	Time lease_;
	std::chrono::milliseconds patience_;
	std::uint64_t history_;
	Master master_;
	std::minstd_rand random_{std::random_device{}()};
};

} // namespace prism::gam
