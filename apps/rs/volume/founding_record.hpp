/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <string>

#include "rs/volume/configuration.hpp"

namespace prism::rs
{

/**
 * A record, which outlives all replicas, that replica @p replica has been part of its volume. It lies beside the
 * configuration, as the file CONFIGURATION.VOLUME.replica-N or the key of the same name, and stays. Not thread-safe.
 */
class FoundingRecord
{
public:
	/** @p location: of the configuration, as in Configuration::load(), which has read @p volume there. */
	FoundingRecord(const std::string &location, const Configuration &volume, unsigned replica);

	/** Errors: EEXIST (the replica has been part of the volume before), EACCES and the like, those of etcd. */
	[[nodiscard]] Result<void> check_absent() const;

	/** Makes it. On return it outlives a crash. Errors: as above, those of open(2) and fsync(2). */
	[[nodiscard]] Result<void> create() const;

	/** Makes it unless it is there: a replica that is repaired is part of its volume, like one that has founded it.
	 */
	[[nodiscard]] Result<void> keep() const;

private:
	[[nodiscard]] Error exists() const;

	std::string place_; /* a path, or a key in etcd */
	unsigned replica_;
};

} // namespace prism::rs
