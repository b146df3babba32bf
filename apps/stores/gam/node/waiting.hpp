/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** The waiter for an access: Access::context points to it. */
class Waiting
{
public:
	/** Called by whichever thread polls, under the lock of the block's shard. */
	virtual void ended(Access &access) = 0;

protected:
	~Waiting() = default;
};

/** Waits for one access of its own. */
struct Awaited final : Waiting {
	Access access;
	std::atomic<bool> done{false};

	Awaited() { access.context = static_cast<Waiting *>(this); }
	void ended(Access & /*access*/) override { done.store(true, std::memory_order_release); }
	[[nodiscard]] bool is_done() const noexcept { return done.load(std::memory_order_acquire); }
};

} // namespace prism::gam
