/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The parts that loading, the transactions and the checks of TPC-C share: random inputs and the names of customers. */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/frame/workload.hpp"
#include "bench/tx/workloads/tpcc.hpp"
#include "bench/tx/workloads/tpcc_records.hpp"

namespace prism::tx::tpcc
{

/** Draws from @p least to @p most, uniformly. */
std::uint64_t draw(bench::Random &random, std::uint64_t least, std::uint64_t most);

/** Returns true with probability @p share. */
bool chance(bench::Random &random, double share);

/** Draws by NURand of clause 2.1.6. @param constant its C. */
std::uint64_t non_uniform(
	bench::Random &random, std::uint64_t a, std::uint64_t least, std::uint64_t most, std::uint64_t constant);

/** Returns the last name with number @p number, below last_names: three syllables (clause 4.3.2.3). */
std::string last_name(std::uint32_t number);

/** Last names of the customers of every district. Not changed after it was made. */
class Names
{
public:
	explicit Names(std::uint32_t customers);

	/** Returns the number of the name of customer 1 .. customers. */
	[[nodiscard]] std::uint32_t of(std::uint32_t customer) const { return of_[customer - 1]; }
	/** Returns the customers that have the name with number @p name. */
	[[nodiscard]] const std::vector<std::uint32_t> &who(std::uint32_t name) const { return who_[name]; }
	/** Returns the number of names, which count from 0. */
	[[nodiscard]] std::uint32_t count() const { return count_; }
	/** Returns the most customers of one name. */
	[[nodiscard]] std::size_t most_of_one() const;

private:
	std::uint32_t count_;
	std::vector<std::uint32_t> of_;
	std::vector<std::vector<std::uint32_t>> who_;
};

/** Returns a first name, computed on its own, so that the index can be made without the customers. */
std::string first_name(Place place, std::uint32_t customer);

/** The number of transactions that load, of objects that they make, and transaction @p number of them. */
std::uint64_t loads(const TpccOptions &options, const Names &names);
std::uint64_t loaded_objects(const TpccOptions &options, const Names &names);
std::unique_ptr<Program> load(const TpccOptions &options, const Names &names, std::uint64_t number);

std::unique_ptr<Terminal> make_terminal(
	const TpccOptions &options, const Names &names, std::uint64_t seed, std::uint64_t number);

Result<Survey> survey(const TpccOptions &options, TransactionClient &client);

/** Reads a record of @p transaction that was fetched. Returns 0, ENOENT or EBADMSG. */
template <typename Record>
int read_record(const Transaction &transaction, const Key &key, Record &record)
{
	const std::optional<Bytes> value = transaction.value(key);
	if (!value)
		return ENOENT;
	return decode(*value, record) ? 0 : EBADMSG;
}

/** The customers of a name, in the order of their first names: 16 bits each. */
void append_customer(std::vector<std::byte> &index, std::uint32_t customer);
std::size_t customers_in(Bytes index) noexcept;
std::uint32_t customer_in(Bytes index, std::size_t position) noexcept;

} // namespace prism::tx::tpcc
