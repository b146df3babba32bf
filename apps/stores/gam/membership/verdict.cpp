/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/verdict.hpp"

#include <algorithm>

namespace prism::gam
{

namespace
{

/* A home gives fewer terms between a copy of its log and its death; who claims more must not use up the counters. */
constexpr std::uint64_t too_far = std::uint64_t{1} << 32;

/* The making of one decision */
class Judge
{
public:
	Judge(const Evidence &evidence, const Witnesses &witnesses) : evidence_(evidence), witnesses_(witnesses)
	{
		verdict_.next = given() + 1;
		for (const Claim &claim : evidence.claims) {
			is_overtaken_ = is_overtaken_ || is_later(claim);
			if (is_possible(claim) || is_later(claim))
				verdict_.next = std::max(verdict_.next, claim.counter + 1);
		}
	}

	Verdict run()
	{
		if (has_owner())
			return verdict_;
		ask_logs();
		const NodeId reader = find_sharers();
		/* While any node has a readable copy, nobody has written since; but a log tells who wrote it. */
		if (reader != no_node && (!has_value() || verdict_.counter < last().counter))
			conclude(Verdict::Kind::taken, reader, newest_copy_, Holding::shared);
		/* The log may be a copy, older than what others have: its value is not the last one. */
		if (is_overtaken_ && evidence_.allocated && has_value())
			verdict_.kind = Verdict::Kind::lost;
		/* Copies of the home's own term stay valid if it logs their value in that term, not in a new one. */
		const bool is_own_term = newest_copy_ > given();
		if (verdict_.kind == Verdict::Kind::taken && is_own_term && newest_copy_ + 1 == verdict_.next)
			verdict_.next = newest_copy_;
		return verdict_;
	}

private:
	enum class Term : std::uint8_t {
		decided,
		unknown,
		never_begun
	};

	[[nodiscard]] std::uint64_t own() const { return evidence_.own.value_or(0); }
	[[nodiscard]] const Transfer &last() const { return evidence_.transfers[0]; }

	/* Returns true if the verdict so far is a value that counts as the last one. */
	[[nodiscard]] bool has_value() const
	{
		return verdict_.kind == Verdict::Kind::own || verdict_.kind == Verdict::Kind::taken;
	}

	/* Returns the last term that the home's log knows. */
	[[nodiscard]] std::uint64_t given() const { return std::max(own(), last().counter); }

	/* Returns false for a term that this home has not begun, unless its log may have lost that. */
	[[nodiscard]] bool is_possible(const Claim &claim) const
	{
		return claim.node < max_nodes && (evidence_.doubtful || claim.counter <= given() + 1);
	}

	/* Returns true for a term that this home has begun if its log has been restored from an older copy. */
	[[nodiscard]] bool is_later(const Claim &claim) const
	{
		const std::uint64_t known = given() + (claim.holding == Holding::shared ? 1 : 0);
		return !evidence_.doubtful && claim.counter > known && claim.counter - known < too_far;
	}

	bool has_owner()
	{
		const Claim *owner = nullptr;
		for (const Claim &claim : evidence_.claims) {
			if (claim.holding == Holding::dirty && is_possible(claim) && may_own(claim) &&
				(!owner || claim.counter > owner->counter))
				owner = &claim;
		}
		if (!owner || has_given_back(*owner))
			return false;
		conclude(Verdict::Kind::owned, owner->node, owner->counter, owner->holding);
		return true;
	}

	/* Returns true if others have had the block since, of which an owner that was evicting it has not heard. */
	bool has_given_back(const Claim &owner)
	{
		const auto is_copy_since = [&](const Claim &claim) {
			return claim.holding == Holding::shared && claim.counter > owner.counter && is_possible(claim);
		};
		if (std::any_of(evidence_.claims.begin(), evidence_.claims.end(), is_copy_since))
			return true;
		return !evidence_.doubtful && owner.counter < last().counter && look_into(last()) != Term::never_begun;
	}

	[[nodiscard]] bool may_own(const Claim &claim) const
	{
		if (evidence_.own && own() >= claim.counter)
			return false;
		return evidence_.doubtful || std::any_of(evidence_.transfers.begin(), evidence_.transfers.end(),
						     [&](const Transfer &transfer) {
							     return transfer.counter && transfer.owner == claim.node &&
								    transfer.counter == claim.counter;
						     });
	}

	/* Finds the nodes with a valid copy; returns one with the newest. */
	NodeId find_sharers()
	{
		NodeId reader = no_node;
		for (const Claim &claim : evidence_.claims) {
			if (claim.holding != Holding::shared || !is_possible(claim) || claim.counter < given())
				continue;
			verdict_.sharers |= bit(claim.node);
			if (reader == no_node || claim.counter > newest_copy_) {
				reader = claim.node;
				newest_copy_ = claim.counter;
			}
		}
		return reader;
	}

	void ask_logs()
	{
		if (evidence_.doubtful) {
			lose();
			return;
		}
		bool is_lost = false;
		for (const Transfer &transfer : evidence_.transfers) {
			const Term term = look_into(transfer);
			is_lost = is_lost || term == Term::unknown;
			/* The owner before a lost one has the newest value that is left. */
			if (term == Term::decided && (!is_lost || verdict_.kind == Verdict::Kind::waits))
				return;
			if (term == Term::decided)
				break;
		}
		lose(); /* the owner before the last had the value, and it is nowhere */
	}

	/*
	 * Finds the value at the end of the term that @p transfer has begun: its owner logged it before it gave the
	 * block away.
	 */
	Term look_into(const Transfer &transfer)
	{
		if (!transfer.counter || own() > transfer.counter) {
			conclude(Verdict::Kind::own, no_node, own(), Holding::logged);
			return Term::decided;
		}
		for (const Claim &claim : evidence_.claims) {
			if (claim.node != transfer.owner || claim.counter != transfer.counter)
				continue;
			if (claim.holding == Holding::logged_doubtful)
				return Term::unknown;
			if (claim.holding == Holding::logged) {
				conclude(Verdict::Kind::taken, claim.node, claim.counter, claim.holding);
				return Term::decided;
			}
		}
		const std::uint64_t owner = bit(transfer.owner);
		if (witnesses_.answered & owner)
			return is_stranger(transfer) || (witnesses_.incomplete & owner) ? Term::unknown
											: Term::never_begun;
		if (witnesses_.given_up & owner)
			return Term::unknown;
		conclude(Verdict::Kind::waits, transfer.owner, transfer.counter, Holding::logged);
		return Term::decided;
	}

	/*
	 * Returns true if another node has the owner's number now, so that the owner will not return. A new master may
	 * have given it a life that is before the owner's, as long as this home was not there.
	 */
	[[nodiscard]] bool is_stranger(const Transfer &transfer) const
	{
		const std::uint64_t life = witnesses_.life[transfer.owner];
		return transfer.owner_life &&
		       (witnesses_.since[transfer.owner] > transfer.owner_life || (life && life < transfer.owner_life));
	}

	/* Concludes that the last value is lost, with the newest known one */
	void lose()
	{
		conclude(Verdict::Kind::lost, no_node, own(), Holding::logged);
		for (const Claim &claim : evidence_.claims) {
			const bool has_value =
				claim.holding == Holding::logged || claim.holding == Holding::logged_doubtful;
			if (has_value && is_possible(claim) && claim.counter > verdict_.counter)
				conclude(Verdict::Kind::lost, claim.node, claim.counter, claim.holding);
		}
	}

	void conclude(Verdict::Kind kind, NodeId node, std::uint64_t counter, Holding holding)
	{
		verdict_.kind = kind;
		verdict_.node = node;
		verdict_.counter = counter;
		verdict_.holding = holding;
	}

	const Evidence &evidence_;
	const Witnesses &witnesses_;
	Verdict verdict_;
	std::uint64_t newest_copy_ = 0; /* term of the newest copy */
	bool is_overtaken_ = false;     /* true if there are claims of later terms than the home's log knows */
};

} // namespace

Verdict decide(const Evidence &evidence, const Witnesses &witnesses)
{
	return Judge(evidence, witnesses).run();
}

} // namespace prism::gam
