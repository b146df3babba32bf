/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The machines of one cluster, all of one protocol. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/gam/simulated/machine.hpp"

namespace prism::gam::simulated
{

enum class Kind : std::uint8_t {
	directory, /**< as in nodes in processes: dirty blocks come through their home */
	forwards,  /**< the directory as in the paper: the owner sends to the requester */
	latch,
};

struct Shape {
	Kind kind = Kind::directory;
	std::size_t nodes = 2;
	std::uint64_t blocks = 0; /**< blocks of each home; block 0 is not used */
	std::size_t lines = 0;    /**< lines of each cache */
};

class Machines
{
public:
	Machines(const Shape &shape, const Hardware &hardware);
	~Machines();
	Machines(const Machines &) = delete;
	Machines &operator=(const Machines &) = delete;

	[[nodiscard]] Events &events() noexcept { return events_; }
	[[nodiscard]] std::size_t size() const noexcept { return machines_.size(); }
	[[nodiscard]] Machine &machine(NodeId node) noexcept { return *machines_[node]; }
	[[nodiscard]] bool at_rest() const;

private:
	const Hardware hardware_;
	Events events_;
	std::vector<std::unique_ptr<Machine>> machines_;
};

} // namespace prism::gam::simulated
