/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "configuration.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/descriptor.hpp"
#include "base/printable.hpp"
#include "base/random.hpp"
#include "common/regular_file.hpp"
#include "service/etcd.hpp"

namespace prism::rs
{

namespace
{

/* Most bytes of a file: no sensible one has more. */
constexpr std::size_t longest_text = std::size_t{1} << 20;
constexpr std::uint64_t most_blocks = std::uint64_t{1} << 40;

Error no_configuration(const std::string &why)
{
	return make_error(EINVAL, "this is no configuration of a volume", why);
}

/** Parses the text; errors name its place, @p location. */
Result<Configuration> parse(const std::string &location, const std::string &text)
{
	Result<Configuration> read = Configuration::from_json(text);
	return read ? std::move(read) : Error{read.error().code, location + ": " + read.error().message};
}

/**
 * Returns the number that @p json has at @p key. The library's own conversion would cut off bits that do not fit in
 * @p Number.
 */
template <typename Number>
Number number_at(const nlohmann::json &json, const char *key)
{
	const nlohmann::json &value = json.at(key);
	if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max())
		throw std::out_of_range(fmt::format("its {} cannot be {}", key, value.dump()));
	return value.get<Number>();
}

/** Parses the number of a volume, as to_json() writes it. */
std::uint64_t parse_volume(const std::string &text)
{
	std::uint64_t number = 0;
	const char *const end = text.data() + text.size();
	const auto [at, error] = std::from_chars(text.data(), end, number, 16);
	if (error != std::errc() || at != end)
		throw std::out_of_range(fmt::format("'{}' is no number of a volume", text));
	return number;
}

/** Creates the file @p path, which must not exist, with the contents @p text. */
Result<void> create_file(const std::string &path, const std::string &text)
{
	const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
	if (fd.get() < 0)
		return make_error(errno, "cannot create " + path);
	/* The write of what had no room tells why. */
	for (std::size_t at = 0; at < text.size();) {
		const ssize_t written = ::write(fd.get(), text.data() + at, text.size() - at);
		const int error = written < 0 ? errno : 0;
		if (error && error != EINTR) {
			::unlink(path.c_str());
			return make_error(error, "cannot write " + path);
		}
		at += error ? 0 : static_cast<std::size_t>(written);
	}
	return {};
}

} // namespace

Result<void> Configuration::check() const
{
	const auto wrong = [](const std::string &what) { return no_configuration(what); };
	if (!volume)
		return wrong("its volume has no number");
	if (block_size < smallest_block || block_size > largest_block || !std::has_single_bit(block_size))
		return wrong(fmt::format("blocks have 512 to 65536 bytes, a power of two, not {}", block_size));
	if (!blocks || blocks > most_blocks)
		return wrong(fmt::format("a volume has 1 to 2^40 blocks, not {}", blocks));
	if (replicas.size() % 2 == 0 || replicas.size() > most_replicas)
		return wrong(fmt::format(
			"replicas are an odd number of at most {}, not {}", most_replicas, replicas.size()));
	std::set<std::pair<std::string, std::uint16_t>> seen;
	for (const ReplicaAddress &replica : replicas) {
		const bool is_host = !replica.host.empty() && apps::printable(replica.host) == replica.host;
		if (!is_host || !replica.port || !seen.insert({replica.host, replica.port}).second)
			return wrong(fmt::format(
				"'{}:{}' is no address of a replica, or of two", replica.host, replica.port));
	}
	return {};
}

Result<Configuration> Configuration::make(
	std::uint32_t block_size, std::uint64_t blocks, std::vector<ReplicaAddress> replicas)
{
	Configuration made{random_number(), block_size, blocks, std::move(replicas)};
	if (Result<void> checked = made.check(); !checked)
		return checked.error();
	return made;
}

std::string Configuration::to_json() const
{
	nlohmann::json json{{"volume", fmt::format("{:016x}", volume)}, {"block_size", block_size}, {"blocks", blocks}};
	for (const ReplicaAddress &replica : replicas)
		json["replicas"].push_back({{"host", replica.host}, {"port", replica.port}});
	return json.dump(2) + "\n";
}

Result<Configuration> Configuration::from_json(const std::string &text)
{
	Configuration made;
	try {
		const nlohmann::json json = nlohmann::json::parse(text);
		made.volume = parse_volume(json.at("volume").get<std::string>());
		made.block_size = number_at<std::uint32_t>(json, "block_size");
		made.blocks = number_at<std::uint64_t>(json, "blocks");
		for (const nlohmann::json &replica : json.at("replicas"))
			made.replicas.push_back(
				{replica.at("host").get<std::string>(), number_at<std::uint16_t>(replica, "port")});
	} catch (const std::exception &error) {
		return no_configuration(error.what());
	}
	if (Result<void> checked = made.check(); !checked)
		return checked.error();
	return made;
}

Result<Configuration> Configuration::load(const std::string &location, std::chrono::milliseconds patience)
{
	if (apps::EtcdKey::is(location)) {
		Result<apps::EtcdKey> key = apps::EtcdKey::parse(location, patience);
		if (!key)
			return key.error();
		Result<std::string> text = key->get();
		if (!text && text.error().code == ENOENT)
			return Error{ENOENT, text.error().message + "; prism-rs create makes one"};
		if (!text)
			return text.error();
		return parse(location, *text);
	}
	const Result<std::string> text = apps::read_regular_file(location, longest_text, "the configuration");
	if (!text && text.error().code == ENOENT)
		return Error{ENOENT, text.error().message + "; prism-rs create makes one"};
	if (!text)
		return text.error();
	if (text->size() > longest_text)
		return no_configuration(location + " is longer than 1 MiB");
	return parse(location, *text);
}

Result<void> Configuration::create(const std::string &location, std::chrono::milliseconds patience) const
{
	if (!apps::EtcdKey::is(location))
		return create_file(location, to_json());
	Result<apps::EtcdKey> key = apps::EtcdKey::parse(location, patience);
	if (!key)
		return key.error();
	return key->create(to_json());
}

} // namespace prism::rs
