/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A process that is a node, and its threads. */
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gam/process/joined_node.hpp"
#include "options.hpp"

namespace gam_history
{

/** For a session. */
template <typename Value>
std::span<std::byte> bytes_of(Value &value) noexcept
{
	return std::as_writable_bytes(std::span(&value, 1));
}

class Node
{
public:
	Node(const Options &options, Stage &stage, Life life, Place place, std::string master);

	/** Joins, works until the stage is over or it is expelled, leaves. */
	Ending run();
	/* Any thread */
	/** What must not happen has. */
	void fail(const std::string &what);
	/** What a flaw explains has. */
	void find(const std::string &what);

	[[nodiscard]] const Options &options() const noexcept { return options_; }
	[[nodiscard]] Stage &stage() noexcept { return stage_; }
	[[nodiscard]] Life life() const noexcept { return life_; }
	[[nodiscard]] const std::vector<prism::gam::Address> &places() const noexcept { return places_; }
	/** Of the bank; null if it has none. */
	[[nodiscard]] prism::gam::Address journal() const noexcept { return journal_; }
	/** Of the hash table. */
	[[nodiscard]] prism::gam::Address catalogue() const noexcept { return catalogue_; }
	[[nodiscard]] prism::gam::Node &memory() noexcept { return joined_->node(); }
	/** The stage is over, or this node's membership. */
	[[nodiscard]] bool is_over() const;
	/** Whether @p error may be: it is of a death. ESTALE may only be while the lease is over. */
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
