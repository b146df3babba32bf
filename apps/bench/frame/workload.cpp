/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/workload.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstring>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

namespace prism::bench
{

namespace
{

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

/* Boost's distributions give the same numbers on every platform; those of the standard library need not. */
using Unit = boost::random::uniform_01<double>;
using Index = boost::random::uniform_int_distribution<std::uint64_t>;

constexpr std::uint64_t odd_factor = 0x9e3779b97f4a7c15; /* 2^64 divided by the golden ratio */

/* The mixes of YCSB, and P and W */
constexpr std::array mixes{
	Mix{'A', {0.5, 0.5, 0, 0}, Distribution::zipfian},
	Mix{'B', {0.95, 0.05, 0, 0}, Distribution::zipfian},
	Mix{'C', {1, 0, 0, 0}, Distribution::zipfian},
	Mix{'D', {0.95, 0, 0.05, 0}, Distribution::latest},
	Mix{'F', {0.5, 0, 0, 0.5}, Distribution::zipfian},
	Mix{'P', {0.05, 0.95, 0, 0}, Distribution::zipfian},
	Mix{'W', {0, 1, 0, 0}, Distribution::zipfian},
};

/* Return (e^x - 1) / x and log(1 + x) / x, with their limits at 0: theta may be close or equal to 1. */
double exp_quotient(double x)
{
	return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}

double log_quotient(double x)
{
	return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}

/* Pseudo-random words, determined by a record and a version. */
class Stream
{
public:
	Stream(std::uint64_t record, std::uint64_t version) noexcept
		: state_(permute(record, 64) ^ permute(version + odd_factor, 64))
	{
	}

	[[nodiscard]] std::uint64_t next() noexcept
	{
		state_ += odd_factor;
		std::uint64_t word = state_ * 0xd6e8feb86659fd93;
		word ^= word >> 32;
		return word * 0xd6e8feb86659fd93;
	}

private:
	std::uint64_t state_;
};

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::size_t least_with_whole_version = 16;

std::size_t version_size(std::size_t value_size)
{
	return value_size < least_with_whole_version ? 1 : word_size;
}

} // namespace

Random make_random(std::uint64_t seed, std::uint64_t stream)
{
	std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
		static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
	return Random(mixed);
}

std::string_view name_of(Request request)
{
	constexpr std::array<std::string_view, request_kinds> names{"read", "update", "insert", "read-modify-write"};
	return names[static_cast<std::size_t>(request)];
}

std::string_view name_of(Distribution distribution)
{
	constexpr std::array<std::string_view, 3> names{"uniform", "zipfian", "latest"};
	return names[static_cast<std::size_t>(distribution)];
}

Request Mix::next(Random &random) const noexcept
{
	double left = Unit()(random);
	Request last_possible = Request::read;
	for (std::size_t kind = 0; kind < request_kinds; kind++) {
		if (share[kind] <= 0)
			continue;
		last_possible = static_cast<Request>(kind);
		left -= share[kind];
		if (left < 0)
			break;
	}
	return last_possible;
}

std::optional<Mix> find_mix(char letter)
{
	const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
	const auto *const found =
		std::find_if(mixes.begin(), mixes.end(), [upper](const Mix &mix) { return mix.name == upper; });
	if (found == mixes.end())
		return {};
	return *found;
}

Zipf::Zipf(std::uint64_t n, double theta)
	: exponent_(theta), ranks_(n), area_first_(area(1.5) - 1), shortcut_(2 - area_inverse(area(2.5) - density(2)))
{
	resize(n);
}

/* The continuous function that gives each rank's probability, its integral, and the inverse of the integral. */

double Zipf::density(double x) const noexcept
{
	return std::exp(-exponent_ * std::log(x));
}

double Zipf::area(double x) const noexcept
{
	const double logarithm = std::log(x);
	return exp_quotient((1 - exponent_) * logarithm) * logarithm;
}

double Zipf::area_inverse(double y) const noexcept
{
	const double scaled = std::max(y * (1 - exponent_), -1.0); /* rounding may take it below */
	return std::exp(log_quotient(scaled) * y);
}

void Zipf::resize(std::uint64_t n) noexcept
{
	ranks_ = n;
	area_last_ = area(static_cast<double>(n) + 0.5);
}

std::uint64_t Zipf::next(Random &random) const noexcept
{
	for (;;) {
		const double y = area_last_ + Unit()(random) * (area_first_ - area_last_);
		const double x = area_inverse(y);
		const double rank = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(ranks_));
		/* The first test accepts most ranks, without the logarithms of the second. */
		if (rank - x <= shortcut_ || y >= area(rank + 0.5) - density(rank))
			return static_cast<std::uint64_t>(rank);
	}
}

KeyChooser::KeyChooser(Distribution distribution, std::uint64_t records, double theta)
	: kind_(distribution), initial_(records), zipf_(records, theta)
{
}

std::uint64_t KeyChooser::next(Random &random, std::uint64_t records) noexcept
{
	switch (kind_) {
	case Distribution::uniform:
		return Index(0, records - 1)(random);
	case Distribution::zipfian:
		return scramble(zipf_.next(random) - 1, initial_);
	case Distribution::latest:
		if (zipf_.size() != records)
			zipf_.resize(records);
		return records - zipf_.next(random);
	}
	return 0;
}

std::uint64_t permute(std::uint64_t value, unsigned bits) noexcept
{
	const std::uint64_t mask = bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
	const unsigned half = std::max(bits / 2, 1U);
	/* Each step can be inverted: adding, multiplying by an odd number, xor of the upper half into the lower. */
	for (int round = 0; round < 3; round++) {
		value = (value + odd_factor) & mask;
		value = (value * 0xd6e8feb86659fd93) & mask;
		if (bits > 1)
			value ^= value >> half;
	}
	return value;
}

std::uint64_t scramble(std::uint64_t value, std::uint64_t n) noexcept
{
	const auto bits = std::max(static_cast<unsigned>(std::bit_width(n - 1)), 1U);
	do {
		value = permute(value, bits);
	} while (value >= n); /* walk its cycle back into the range: also a bijection of the range */
	return value;
}

std::uint64_t most_records(std::size_t size) noexcept
{
	return std::uint64_t{1} << (6 * std::min<std::size_t>(size, 8));
}

void fill_key(std::uint64_t record, std::span<std::byte> key) noexcept
{
	static constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";
	static_assert(alphabet.size() == 64);
	const std::size_t distinct = std::min<std::size_t>(key.size(), 8);
	std::uint64_t digits = permute(record, static_cast<unsigned>(6 * distinct));
	for (std::size_t i = 0; i < distinct; i++, digits >>= 6)
		key[i] = static_cast<std::byte>(alphabet[digits & 63]);
	Stream padding(record, 0);
	for (std::size_t i = distinct; i < key.size(); i++)
		key[i] = static_cast<std::byte>(alphabet[padding.next() >> 58]);
}

void fill_value(std::uint64_t record, std::uint64_t version, std::span<std::byte> value) noexcept
{
	if (value.empty())
		return;
	const std::size_t head = version_size(value.size());
	if (head == 1)
		version &= 0xff;
	std::memcpy(value.data(), &version, head);
	Stream stream(record, version);
	std::span<std::byte> rest = value.subspan(head);
	while (!rest.empty()) {
		const std::uint64_t word = stream.next();
		const std::size_t piece = std::min(rest.size(), word_size);
		std::memcpy(rest.data(), &word, piece);
		rest = rest.subspan(piece);
	}
}

std::optional<std::uint64_t> version_of(std::uint64_t record, std::span<const std::byte> value) noexcept
{
	if (value.empty())
		return 0;
	const std::size_t head = version_size(value.size());
	std::uint64_t version = 0;
	std::memcpy(&version, value.data(), head);
	Stream stream(record, version);
	std::span<const std::byte> rest = value.subspan(head);
	while (!rest.empty()) {
		const std::uint64_t word = stream.next();
		const std::size_t piece = std::min(rest.size(), word_size);
		if (std::memcmp(rest.data(), &word, piece) != 0)
			return {};
		rest = rest.subspan(piece);
	}
	return version;
}

void RecordCounter::finish(std::uint64_t record) noexcept
{
	finished_[record % window].store(record + 1, std::memory_order_seq_cst);
	/* The thread that finishes the oldest record also advances past all later ones that have finished. */
	std::uint64_t oldest = ended_.load(std::memory_order_seq_cst);
	while (finished_[oldest % window].load(std::memory_order_seq_cst) == oldest + 1) {
		if (ended_.compare_exchange_strong(oldest, oldest + 1, std::memory_order_seq_cst))
			oldest++;
	}
}

} // namespace prism::bench
