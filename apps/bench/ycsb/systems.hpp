/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The stores that the driver can measure, by name. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <prism/result.hpp>

#include "bench/frame/registry.hpp"
#include "bench/gam/driver/driver_options.hpp"
#include "bench/ycsb/options.hpp"

namespace prism::ycsb
{

/** The place of the store, and the needs of its clients. */
struct SystemOptions {
	std::string host = "127.0.0.1"; /**< name or address; "unix:PATH" where the system has that */
	std::uint16_t port = 0;
	std::string configuration;  /**< for a volume, instead of host and port: a file, or etcd://HOST:PORT/KEY */
	std::string device;         /**< RDMA device; empty: by the address. Of no use to systems over TCP */
	unsigned depth = 1;         /**< operations under way a client */
	std::size_t key_size = 0;   /**< largest, bytes */
	std::size_t value_size = 0; /**< largest, bytes */
	std::uint64_t records = 0;  /**< records that are loaded */
	bool loads = false;         /**< true if they are not loaded yet */
	double timeout = 5;         /**< seconds for connecting */
	gam::DriverOptions gam;     /**< for a global memory, whose master is at host and port */
};

struct System {
	std::string name; /**< value of --system */
	std::string description;
	std::uint16_t default_port = 0;
	/** Called once in each process of the driver; what it opens lives as long as the returned factory. */
	std::function<Result<ClientFactory>(const SystemOptions &)> open;
	/**
	 * True for a volume: it has a configuration instead of host and port, and keys are the numbers of its blocks.
	 */
	bool is_volume = false;
	bool is_gam = false; /**< true for a store in a global memory: processes of the driver join as nodes */
};

using Systems = bench::Registry<System>;

} // namespace prism::ycsb
