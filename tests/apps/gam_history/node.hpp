/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Process that is a node, and its threads. */
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gam/api/joined_node.hpp"
#include "options.hpp"

namespace gam_history
{

/** Returns the bytes of @p value, for a session. */
template <typename Value>
std::span<std::byte> bytes_of(Value &value) noexcept
{
	return std::as_writable_bytes(std::span(&value, 1));
}

class Node
{
public:
	Node(const Options &options, Stage &stage, Life life, Place place, std::string master);

	/** Joins, works until the stage is over or the node is expelled, then leaves. */
	Ending run();
	/* Any thread */
	/** Reports an error that must not happen, flaw or not. */
	void fail(const std::string &what);
	/** Reports an error that a flaw explains. */
	void find(const std::string &what);

	[[nodiscard]] const Options &options() const noexcept { return options_; }
	[[nodiscard]] Stage &stage() noexcept { return stage_; }
	[[nodiscard]] Life life() const noexcept { return life_; }
	[[nodiscard]] const std::vector<prism::gam::Address> &places() const noexcept { return places_; }
	/** Returns the address of the bank's journal; null if there is none. */
	[[nodiscard]] prism::gam::Address journal() const noexcept { return journal_; }
	/** Returns the address of the hash table. */
	[[nodiscard]] prism::gam::Address catalogue() const noexcept { return catalogue_; }
	[[nodiscard]] prism::gam::Node &memory() noexcept { return joined_->node(); }
	/** Returns true if the stage or this node's membership is over. */
	[[nodiscard]] bool is_over() const;
	/**
	 * Returns true if there is no error. Reports an error that no death explains; ESTALE is one while the node is a
	 * member.
	 */
	bool expects(int error, const char *what);

private:
	prism::Result<void> join();
	prism::Result<void> set_up();
	bool allocate();
	bool allocate_journal();
	bool make_table();
	[[nodiscard]] bool has_journal() const noexcept;
	void work(unsigned thread);
	void await_the_others();
	void check_that_all_is_stale();

	const Options options_;
	Stage &stage_;
	const Life life_;
	const Place place_;
	const std::string master_;
	std::unique_ptr<prism::gam::JoinedNode> joined_;
	std::vector<prism::gam::Address> places_; /* registers, or accounts */
	prism::gam::Address journal_;
	prism::gam::Address catalogue_;
	std::atomic<Ending> ending_{good};
};

} // namespace gam_history
