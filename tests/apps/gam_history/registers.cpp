/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "registers.hpp"

#include <cerrno>

namespace gam_history
{

using prism::gam::Address;
using prism::gam::Function;
using prism::test::Kind;
using prism::test::Outcome;
using prism::test::Value;

namespace
{

constexpr unsigned value_bits = 32; /* the rest of a value is the client that wrote it */

} // namespace

Registers::Registers(Node &node, unsigned thread, prism::test::HistoryWriter writer)
	: node_(node), session_(node.memory()), writer_(std::move(writer)),
	  client_(node.life() * node.options().threads + thread), random_(node.options().seed * 1000 + client_),
	  seen_(node.places().size()), gone_(node.places().size())
{
}

bool Registers::act()
{
	const std::size_t place = random_() % node_.places().size();
	const unsigned kind = gone_[place] || random_() % 100 < node_.options().reads ? 0 : 1 + random_() % 3;
	const auto [error, what] = kind == 0   ? std::pair(get(place), "a read")
				   : kind == 1 ? std::pair(put(place), "a write")
				   : kind == 2 ? std::pair(change(place), "an atomic")
					       : std::pair(change_locked(place), "a change under a lock");
	node_.expects(error, what);
	if (!node_.options().logs)
		gone_[place] = gone_[place] || error == EHOSTUNREACH || error == EFAULT;
	return error != ENOSPC;
}

/** Records the start of an access. Returns 0, or ENOSPC if the file is full. A change writes a unique value. */
int Registers::begin(Kind kind, std::size_t place, Value expected)
{
	prism::test::Operation operation;
	operation.key = node_.places()[place].value;
	operation.client = client_;
	operation.kind = kind;
	operation.expected = expected;
	if (kind != Kind::get)
		operation.value = value_ = (std::uint64_t{client_} + 1) << value_bits | ++values_;
	record_ = writer_.begin(operation);
	return record_ == prism::test::HistoryWriter::none ? ENOSPC : 0;
}

/** Records the end. A failed access may have happened. */
void Registers::end(int error, Outcome outcome, Value value)
{
	if (!error)
		writer_.end(record_, outcome, value);
}

int Registers::read(std::size_t place)
{
	std::uint64_t value = 0;
	const int error = session_.read(node_.places()[place], bytes_of(value));
	end(error, value ? Outcome::ok : Outcome::not_found, value);
	if (!error)
		seen_[place] = value;
	return error;
}

int Registers::get(std::size_t place)
{
	if (const int full = begin(Kind::get, place))
		return full;
	return read(place);
}

int Registers::put(std::size_t place)
{
	if (const int full = begin(Kind::put, place))
		return full;
	int error = session_.write(node_.places()[place], bytes_of(value_));
	if (!error)
		error = session_.mfence();
	end(error, Outcome::ok);
	return error;
}

int Registers::change(std::size_t place)
{
	const std::uint64_t expected = seen_[place];
	if (const int full = begin(Kind::conditional_put, place, expected))
		return full;
	std::uint64_t old = 0;
	const int error =
		session_.atomic(node_.places()[place], sizeof(value_), Function::compare_swap, value_, old, expected);
	end(error, old == expected ? Outcome::ok : Outcome::mismatch);
	if (!error)
		seen_[place] = old == expected ? value_ : old;
	return error;
}

/** Changes the register under its lock: nobody else changes the value that is read. */
int Registers::change_locked(std::size_t place)
{
	const Address at = node_.places()[place];
	int error = session_.wlock(at, sizeof(value_));
	if (error)
		return error;
	error = get(place);
	const std::uint64_t found = seen_[place];
	if (!error)
		error = begin(Kind::conditional_put, place, found);
	if (!error) {
		error = session_.write(at, bytes_of(value_));
		const int unlocked = session_.unlock(at, sizeof(value_));
		error = error ? error : unlocked;
		end(error, Outcome::ok);
		return error;
	}
	(void)session_.unlock(at, sizeof(value_));
	return error;
}

} // namespace gam_history
