/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ycsb_t.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <fmt/format.h>

#include "bench/frame/workload.hpp"
#include "bench/tx/workloads/reader.hpp"

namespace prism::tx
{

namespace
{

constexpr std::array<std::string_view, 2> kind_names{"read-modify-write", "read-only"};
constexpr std::array<std::string_view, 1> sum_names{"changes of objects"};
constexpr std::size_t least_value = 16; /* values below have 8 bits of their version alone */
constexpr std::uint64_t checked_at_once = 1024;

Key key_of(const YcsbTOptions &options, std::uint64_t record)
{
	Key key;
	if (options.numbered)
		std::memcpy(key.data(), &record, sizeof(record));
	else
		bench::fill_key(record, key);
	return key;
}

class YcsbTProgram final : public Program
{
public:
	YcsbTProgram(const YcsbTOptions &options, std::vector<std::uint64_t> records, bool changes)
		: records_(std::move(records)), changes_(changes), value_(options.value_size)
	{
		for (std::size_t i = 0; i < records_.size(); i++) {
			keys_[i] = key_of(options, records_[i]);
			names_[i] = keys_[i];
		}
	}

	apps::Task<int> run(Transaction &transaction) override
	{
		if (const int error = co_await transaction.fetch(std::span(names_).first(records_.size())))
			co_return error;
		for (std::size_t i = 0; i < records_.size(); i++) {
			if (const int error = visit(transaction, i))
				co_return error;
		}
		co_return 0;
	}

	[[nodiscard]] Effects effects() const noexcept override
	{
		return {changes_ ? static_cast<std::int64_t>(records_.size()) : 0};
	}
	[[nodiscard]] unsigned kind() const noexcept override { return changes_ ? 0 : 1; }

private:
	int visit(Transaction &transaction, std::size_t i)
	{
		const std::optional<Bytes> value = transaction.value(keys_[i]);
		if (!value)
			return ENOENT;
		const std::optional<std::uint64_t> version = bench::version_of(records_[i], *value);
		if (!version || value->size() != value_.size())
			return EBADMSG;
		if (!changes_)
			return 0;
		bench::fill_value(records_[i], *version + 1, value_);
		return transaction.write(keys_[i], value_);
	}

	const std::vector<std::uint64_t> records_;
	const bool changes_;
	std::array<Key, most_ycsb_keys> keys_;
	std::array<Bytes, most_ycsb_keys> names_;
	std::vector<std::byte> value_;
};

class YcsbTTerminal final : public Terminal
{
public:
	YcsbTTerminal(const YcsbTOptions &options, bench::Random random)
		: options_(options), random_(random),
		  /* A distribution that is not used still wants an exponent. */
		  chooser_(options.theta > 0 ? bench::Distribution::zipfian : bench::Distribution::uniform,
			  options.records, options.theta > 0 ? options.theta : 1)
	{
	}

	std::unique_ptr<Program> next() override
	{
		const bool changes = boost::random::uniform_01<double>()(random_) >= options_.read_only;
		std::vector<std::uint64_t> records;
		while (records.size() < options_.keys)
			records.push_back(another(records));
		return std::make_unique<YcsbTProgram>(options_, std::move(records), changes);
	}

private:
	/** Returns a record next to one that is already there: under much skew, drawing again could take long. */
	std::uint64_t another(const std::vector<std::uint64_t> &there)
	{
		std::uint64_t record = chooser_.next(random_, options_.records);
		while (std::find(there.begin(), there.end(), record) != there.end())
			record = (record + 1) % options_.records;
		return record;
	}

	const YcsbTOptions options_;
	bench::Random random_;
	bench::KeyChooser chooser_;
};

class YcsbT final : public Workload
{
public:
	explicit YcsbT(const YcsbTOptions &options) : options_(options) {}

	[[nodiscard]] std::string_view name() const noexcept override { return "ycsb-t"; }
	[[nodiscard]] std::span<const std::string_view> kinds() const noexcept override { return kind_names; }
	[[nodiscard]] std::span<const std::string_view> sums() const noexcept override { return sum_names; }
	[[nodiscard]] std::size_t largest_value() const noexcept override { return options_.value_size; }
	[[nodiscard]] std::size_t most_keys() const noexcept override
	{
		return std::max<std::size_t>(options_.keys, records_a_load);
	}
	[[nodiscard]] std::uint64_t objects() const noexcept override { return options_.records; }

	[[nodiscard]] std::uint64_t loads() const noexcept override
	{
		return (options_.records + records_a_load - 1) / records_a_load;
	}

	[[nodiscard]] std::unique_ptr<Program> load(std::uint64_t number) const override
	{
		auto program = std::make_unique<LoadProgram>();
		std::vector<std::byte> value(options_.value_size);
		const std::uint64_t end = std::min(options_.records, (number + 1) * records_a_load);
		for (std::uint64_t record = number * records_a_load; record < end; record++) {
			bench::fill_value(record, 0, value);
			program->add(key_of(options_, record), value);
		}
		return program;
	}

	[[nodiscard]] std::unique_ptr<Terminal> terminal(std::uint64_t seed, std::uint64_t number) const override
	{
		return std::make_unique<YcsbTTerminal>(options_, bench::make_random(seed, number));
	}

	[[nodiscard]] Result<Survey> survey(TransactionClient &client) const override
	{
		Reader reader(client);
		Survey survey;
		for (std::uint64_t first = 0; first < options_.records; first += checked_at_once) {
			std::vector<Key> keys;
			for (std::uint64_t record = first; record < std::min(options_.records, first + checked_at_once);
				record++)
				keys.push_back(key_of(options_, record));
			const Result<void> done = reader.read(keys,
				[&](std::size_t i, std::optional<Bytes> value) { look_at(first + i, value, survey); });
			if (!done)
				return done.error();
		}
		return survey;
	}

private:
	void look_at(std::uint64_t record, std::optional<Bytes> value, Survey &survey) const
	{
		if (!value)
			return survey.findings.add(fmt::format("object {} is not there", record));
		const std::optional<std::uint64_t> version = bench::version_of(record, *value);
		if (!version || value->size() != options_.value_size)
			return survey.findings.add(fmt::format("object {} is damaged", record));
		survey.sums[0] += static_cast<std::int64_t>(*version);
	}

	const YcsbTOptions options_;
};

} // namespace

Result<std::unique_ptr<Workload>> make_ycsb_t(const YcsbTOptions &options)
{
	if (options.keys == 0 || options.keys > most_ycsb_keys)
		return make_error(EINVAL, fmt::format("transactions of {} keys (--keys)", options.keys),
			fmt::format("1 to {} are possible", most_ycsb_keys));
	if (options.records < options.keys || options.records > bench::most_records(sizeof(Key)))
		return make_error(EINVAL, fmt::format("{} records (--records)", options.records),
			fmt::format("{} (the keys of a transaction) to 2^48 are possible", options.keys));
	if (options.value_size < least_value)
		return make_error(EINVAL, fmt::format("values of {} bytes (--size)", options.value_size),
			fmt::format("at least {} are needed, to count changes", least_value));
	if (!(options.theta >= 0) || !(options.read_only >= 0 && options.read_only <= 1))
		return make_error(
			EINVAL, "an exponent (--theta) below 0, or a share (--read-only) that is not between 0 and 1");
	return std::unique_ptr<Workload>(std::make_unique<YcsbT>(options));
}

} // namespace prism::tx
