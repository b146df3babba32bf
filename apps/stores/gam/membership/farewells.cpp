/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/farewells.hpp"

#include <algorithm>
#include <bit>

namespace prism::gam
{

namespace
{

const Member *find_incarnation(const View &view, std::uint64_t incarnation) noexcept
{
	const auto found = std::find_if(view.members.begin(), view.members.end(),
		[incarnation](const Member &member) { return member.life.incarnation == incarnation; });
	return found == view.members.end() ? nullptr : &*found;
}

} // namespace

void Farewells::adopt(const View &view)
{
	view_ = view;
	live_ = 0;
	for (const Member &member : view.members) {
		if (member.life.node >= max_nodes)
			continue;
		if (member.live()) {
			live_ |= bit(member.life.node) & ~bit(self_);
			continue;
		}
		Farewell &farewell = farewells_[member.life.incarnation];
		farewell.node = member.life.node;
		if (farewell.stage == Stage::heard_of)
			farewell.stage = Stage::letting_go;
	}
	/* Nodes whose numbers are free are in no view any more. */
	std::erase_if(farewells_,
		[&](const auto &each) { return each.first <= view.epoch && !find_incarnation(view, each.first); });
	for (auto &each : farewells_) { /* the next node with a dead node's number has said nothing yet */
		each.second.let_go &= live_;
		each.second.swept &= live_;
	}
	std::erase_if(farewells_, [](const auto &each) { /* deaths that no node reports any more */
		return each.second.stage == Stage::heard_of && !(each.second.let_go | each.second.swept);
	});
}

bool Farewells::knows(const NodeLife &life) const
{
	const auto found = farewells_.find(life.incarnation);
	return found != farewells_.end() && found->second.stage != Stage::heard_of;
}

void Farewells::hear(NodeId from, Word word, std::uint64_t incarnation)
{
	if (from >= max_nodes)
		return;
	if (!farewells_.contains(incarnation) && !may_be_heard(from, incarnation))
		return;
	Farewell &farewell = farewells_[incarnation];
	(word == Word::let_go ? farewell.let_go : farewell.swept) |= bit(from);
}

/*
 * Limits the deaths that a node may report: one for each node that may still come or die. A node that invents more
 * fills only its own share.
 */
bool Farewells::may_be_heard(NodeId from, std::uint64_t incarnation) const
{
	if (incarnation <= view_.epoch)
		return find_incarnation(view_, incarnation);
	const auto said = std::count_if(farewells_.begin(), farewells_.end(), [&](const auto &each) {
		return each.first > view_.epoch && ((each.second.let_go | each.second.swept) & bit(from));
	});
	return static_cast<std::size_t>(said) < max_nodes;
}

void Farewells::met(NodeId node)
{
	for (const auto &[incarnation, farewell] : farewells_) {
		if (farewell.stage >= Stage::agreeing)
			host_.tell(node, Word::let_go, incarnation);
		if (farewell.stage >= Stage::ending)
			host_.tell(node, Word::swept, incarnation);
	}
}

void Farewells::step()
{
	for (auto &[incarnation, farewell] : farewells_) {
		while (advance(incarnation, farewell)) {}
	}
}

bool Farewells::is_waiting() const
{
	return std::any_of(farewells_.begin(), farewells_.end(), [](const auto &each) {
		return each.second.stage != Stage::heard_of && each.second.stage != Stage::over;
	});
}

/** Advances @p farewell by one stage. Returns false if it has to wait. */
bool Farewells::advance(std::uint64_t incarnation, Farewell &farewell)
{
	switch (farewell.stage) {
	case Stage::letting_go:
		if (!host_.has_let_go(farewell.node))
			return false;
		farewell.stage = Stage::agreeing;
		tell_all(Word::let_go, incarnation);
		return true;
	case Stage::agreeing:
		if (live_ & ~farewell.let_go)
			return false;
		farewell.stage = Stage::sweeping;
		host_.sweep(farewell.node);
		return true;
	case Stage::sweeping:
		if (host_.is_sweeping(farewell.node))
			return false;
		farewell.stage = Stage::ending;
		tell_all(Word::swept, incarnation);
		return true;
	case Stage::ending:
		if (live_ & ~farewell.swept)
			return false;
		farewell.stage = Stage::over;
		host_.over(farewell.node);
		return true;
	default:
		return false;
	}
}

void Farewells::tell_all(Word word, std::uint64_t incarnation)
{
	for (std::uint64_t left = live_; left; left &= left - 1)
		host_.tell(static_cast<NodeId>(std::countr_zero(left)), word, incarnation);
}

} // namespace prism::gam
