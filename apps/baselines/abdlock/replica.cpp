/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replica.hpp"
#include "abdlock/kind.hpp"

#include <array>
#include <bit>
#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prism::rs
{

namespace
{

/* The only epoch: no replica comes back. */
constexpr std::uint64_t epoch = 1;

/* Reads a record that clients' requests write at any time, hidden from the thread sanitizer. */
[[gnu::noinline, gnu::no_sanitize_thread]] RecordHead peek(const std::byte *record) noexcept
{
	std::array<std::uint64_t, sizeof(RecordHead) / sizeof(std::uint64_t)> words;
	/* volatile: a loop that the compiler took for memcpy would be looked at again. */
	const auto *const there = reinterpret_cast<const volatile std::uint64_t *>(record);
	for (std::size_t i = 0; i < words.size(); i++)
		words[i] = there[i];
	return std::bit_cast<RecordHead>(words);
}

} // namespace

Result<std::unique_ptr<LockReplica>> LockReplica::create(const Context &context, const LockReplicaOptions &options)
{
	if (Result<void> checked = options.volume.check(); !checked)
		return checked.error();
	if (options.replica >= options.volume.replicas.size())
		return make_error(EINVAL, fmt::format("the volume has no replica {} (--replica)", options.replica),
			fmt::format("its replicas are 0 to {}", options.volume.replicas.size() - 1));
	LockReplicaOptions mine = options;
	if (!mine.port)
		mine.port = options.volume.replicas[options.replica].port;
	const std::size_t bytes = options.volume.blocks * record_size(options.volume.block_size);
	Result<Parts> parts = make_parts(
		context, apps::Hello{abdlock_kind}, {bytes, "blocks", {}, "make a volume of fewer blocks"}, mine);
	if (!parts)
		return parts.error();
	return std::unique_ptr<LockReplica>(new LockReplica(*std::move(parts), mine));
}

LockReplica::LockReplica(Parts parts, const LockReplicaOptions &options)
	: OneSidedServer(std::move(parts), options), volume_(options.volume), replica_(options.replica)
{
}

RecordHead LockReplica::at(std::uint64_t block) const noexcept
{
	return peek(memory().data() + block * record_size(volume_.block_size));
}

Result<void> LockReplica::introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine)
{
	Introduction own = Introduction::of(volume_, replica_);
	Result<Introduction> client = meet_client(theirs, abdlock_kind, own,
		[this](apps::LogLevel level, const std::string &line) { log_client(level, line); });
	if (!client)
		return client.error();
	if (client->purpose != Purpose::use)
		return make_error(EOPNOTSUPP, "replicas of ABDLOCK are not repaired");
	own.epoch = epoch;
	own.serving = true;
	mine.private_data = apps::Hello{abdlock_kind}.serialize(own.serialize());
	const RemoteRegion all = memory().remote();
	mine.regions = {{slots_region, {all.address, bytes(), all.rkey}}, {scratch_region, place.scratch}};
	return {};
}

int LockReplica::hear(std::uint32_t, const apps::ControlMessage &, std::optional<apps::ControlMessage> &)
{
	return EBADMSG;
}

void LockReplica::look_at(std::uint64_t) {}

std::string LockReplica::stats_json() const
{
	std::uint64_t written = 0;
	std::uint64_t locked = 0;
	for (std::uint64_t block = 0; block < volume_.blocks; block++) {
		const RecordHead head = at(block);
		written += !head.version.blank();
		locked += head.lock != 0;
	}
	nlohmann::json json;
	json["volume"] = fmt::format("{:016x}", volume_.volume);
	json["replica"] = replica_;
	json["serving"] = true;
	json["epoch"] = epoch;
	json["blocks"] = {
		{"number", volume_.blocks}, {"size", volume_.block_size}, {"written", written}, {"locked", locked}};
	json["connections"] = {{"accepted", stats().connections}, {"open", stats().open}, {"refused", stats().refused}};
	return json.dump(2);
}

} // namespace prism::rs
