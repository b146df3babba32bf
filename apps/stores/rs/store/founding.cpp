/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "founding.hpp"

#include <algorithm>

namespace prism::rs
{

Founding::Founding(unsigned replica, unsigned replicas, std::uint64_t incarnation)
	: replica_(replica), incarnation_(incarnation), heard_(replicas), theirs_(replicas)
{
	heard_[replica] = incarnation;
	if (replicas == 1)
		founders_ = heard_;
}

std::optional<Founders> Founding::answer(unsigned asker, std::uint64_t incarnation)
{
	const std::lock_guard guard(lock_);
	if (asker >= heard_.size() || asker == replica_ || !incarnation)
		return std::nullopt;
	if (!founders_.empty() && founders_[asker] != incarnation)
		return std::nullopt;
	return founders_;
}

void Founding::begin_round()
{
	const std::lock_guard guard(lock_);
	std::fill(heard_.begin(), heard_.end(), 0);
	heard_[replica_] = incarnation_;
}

void Founding::hear_new(unsigned other, std::uint64_t incarnation)
{
	const std::lock_guard guard(lock_);
	if (other >= heard_.size() || other == replica_)
		return;
	heard_[other] = incarnation;
	found_if_all_agree();
}

void Founding::hear_founded(unsigned other, const Founders &founders)
{
	const std::lock_guard guard(lock_);
	if (other >= heard_.size() || other == replica_ || founders.size() != heard_.size() ||
		founders[replica_] != incarnation_)
		return;
	theirs_[other] = founders;
	heard_[other] = founders[other];
	found_if_all_agree();
}

/** Founds the volume, with the founders of earlier replicas if there are any. */
void Founding::found_if_all_agree()
{
	if (!founders_.empty() || std::count(heard_.begin(), heard_.end(), 0))
		return;
	const auto earlier = std::find_if(
		theirs_.begin(), theirs_.end(), [](const Founders &founders) { return !founders.empty(); });
	founders_ = earlier == theirs_.end() ? heard_ : *earlier;
}

bool Founding::founded() const
{
	const std::lock_guard guard(lock_);
	return !founders_.empty();
}

bool Founding::may_serve() const
{
	const std::lock_guard guard(lock_);
	const auto others = std::count(theirs_.begin(), theirs_.end(), founders_);
	return !founders_.empty() && others >= static_cast<std::ptrdiff_t>(theirs_.size() / 2);
}

} // namespace prism::rs
