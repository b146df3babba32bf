/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "volume_systems.hpp"

#include <cerrno>
#include <memory>
#include <utility>

#include <optional>

#include <fmt/format.h>

#include "rs/abdlock/kind.hpp"
#include "rs/store/kind.hpp"

namespace prism::rs
{

namespace
{

using Client = std::unique_ptr<apps::StoreClient>;
using MakeKind = VolumeKind (*)(const Configuration &);

std::chrono::milliseconds milliseconds(double seconds)
{
	return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

VolumeKind lock_kind(const Configuration &volume, bool pipelined)
{
	LockOptions options;
	options.pipelined = pipelined;
	return abdlock(volume, options);
}

/** Records are blocks. */
Result<void> fits(const Configuration &volume, const kv::SystemOptions &options)
{
	if (volume.block_size != options.value_size)
		return make_error(EINVAL,
			fmt::format("values of {} bytes in a volume with blocks of {}", options.value_size,
				volume.block_size),
			fmt::format("say --size {}", volume.block_size));
	if (volume.blocks < options.records)
		return make_error(EINVAL,
			fmt::format("{} records in a volume of {} blocks", options.records, volume.blocks),
			fmt::format("say --records {}, or make a larger volume", volume.blocks));
	return {};
}

/**
 * The device context of all clients of one thread, which any of them drives. Of their own they would each be left alone
 * while the thread polls the others, and their engine threads would come to help: on few cores that helps nobody.
 */
Result<Context> context_of_thread(const std::string &device)
{
	static thread_local std::optional<Context> kept;
	if (kept)
		return *kept;
	Result<Context> context = Context::open(device, Progress::caller);
	if (context)
		kept.emplace(*context);
	return context;
}

Result<Client> connect(const kv::SystemOptions &options, const Configuration &volume, MakeKind kind)
{
	Result<Context> context = context_of_thread(options.device);
	if (!context)
		return context.error();
	VolumeClientOptions client;
	client.depth = options.depth;
	client.setup_timeout = milliseconds(options.timeout);
	Result<std::unique_ptr<VolumeClient>> opened = VolumeClient::open(*context, volume, kind(volume), client);
	if (!opened)
		return opened.error();
	return Client(*std::move(opened));
}

void add(kv::Systems &systems, const char *name, const char *text, MakeKind kind)
{
	const auto open = [kind](const kv::SystemOptions &options) -> Result<kv::ClientFactory> {
		Result<Configuration> volume = Configuration::load(options.configuration);
		if (!volume)
			return volume.error();
		if (Result<void> checked = fits(*volume, options); !checked)
			return checked.error();
		return kv::ClientFactory([options, kind, volume = *std::move(volume)](
						 unsigned) { return connect(options, volume, kind); });
	};
	systems.add({name, text, 0, open, true});
}

} // namespace

void add_volume_systems(kv::Systems &systems)
{
	add(systems, "rs", "PRISM-RS: replicated blocks by PRISM requests",
		[](const Configuration &volume) { return prism_rs(volume); });
	add(systems, "abdlock", "the same by locks and plain verbs, one step after another",
		[](const Configuration &volume) { return lock_kind(volume, false); });
	add(systems, "abdlock-pipelined", "by locks, with as few round trips as plain verbs allow",
		[](const Configuration &volume) { return lock_kind(volume, true); });
}

} // namespace prism::rs
