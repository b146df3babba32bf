/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/volume_systems.hpp"

#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "abdlock/kind.hpp"
#include "base/seconds.hpp"
#include "bench/frame/thread_context.hpp"
#include "rs/store/kind.hpp"

namespace prism::ycsb
{

namespace
{

using Client = std::unique_ptr<apps::StoreClient>;
using MakeKind = rs::VolumeKind (*)(const rs::Configuration &);

rs::VolumeKind lock_kind(const rs::Configuration &volume, bool pipelined)
{
	rs::LockOptions options;
	options.pipelined = pipelined;
	return rs::abdlock(volume, options);
}

/** Checks that the records are blocks of the volume. */
Result<void> fits(const rs::Configuration &volume, const SystemOptions &options)
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

Result<Client> connect(const SystemOptions &options, const rs::Configuration &volume, MakeKind kind)
{
	Result<Context> context = bench::context_of_thread(options.device);
	if (!context)
		return context.error();
	rs::VolumeClientOptions client;
	client.depth = options.depth;
	client.setup_timeout = apps::milliseconds(options.timeout);
	Result<std::unique_ptr<rs::VolumeClient>> opened =
		rs::VolumeClient::open(*context, volume, kind(volume), client);
	if (!opened)
		return opened.error();
	return Client(*std::move(opened));
}

void add_volume(Systems &systems, const char *name, const char *text, MakeKind kind)
{
	const auto open = [kind](const SystemOptions &options) -> Result<ClientFactory> {
		Result<rs::Configuration> volume =
			rs::Configuration::load(options.configuration, apps::milliseconds(options.timeout));
		if (!volume)
			return volume.error();
		if (Result<void> checked = fits(*volume, options); !checked)
			return checked.error();
		return ClientFactory([options, kind, volume = *std::move(volume)](
					     unsigned) { return connect(options, volume, kind); });
	};
	systems.add({name, text, 0, open, true});
}

} // namespace

void add_volume_systems(Systems &systems)
{
	add_volume(systems, "rs", "PRISM-RS: replicated blocks by PRISM requests",
		[](const rs::Configuration &volume) { return rs::prism_rs(volume); });
	add_volume(systems, "abdlock", "the same by locks and plain verbs, one step after another",
		[](const rs::Configuration &volume) { return lock_kind(volume, false); });
	add_volume(systems, "abdlock-pipelined", "by locks, with as few round trips as plain verbs allow",
		[](const rs::Configuration &volume) { return lock_kind(volume, true); });
}

} // namespace prism::ycsb
