/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <string>

#include "rs/volume/configuration.hpp"

namespace prism::rs
{

/**
 * A record, which outlives all replicas, that a replica has been part of its volume. It lies beside the configuration,
 * as the file CONFIGURATION.VOLUME.replica-N or the key of the same name, or in another folder as VOLUME.replica-N, and
 * is never removed. Not thread-safe.
 */
class FoundingRecord
{
public:
	/**
	 * @p location: of the configuration, as in Configuration::load(), which has read @p volume there. @p folder:
	 * for the record of a configuration that is a file; empty: beside it. A record beside the configuration always
	 * counts.
	 */
	FoundingRecord(const std::string &location, const Configuration &volume, unsigned replica,
		const std::string &folder = {});

	/** Errors: EEXIST (the replica has been part of the volume before), EACCES and the like, those of etcd. */
	[[nodiscard]] Result<void> check_absent() const;

	/**
	 * Makes the record. On return it outlives a crash; after an error there is none. Errors: as above, those of
	 * open(2), write(2) and fsync(2).
	 */
	[[nodiscard]] Result<void> create() const;

	/**
	 * Makes the record unless it is there: a repaired replica is part of its volume, like one that has founded it.
	 */
	[[nodiscard]] Result<void> keep() const;

private:
	[[nodiscard]] Error exists(const std::string &place) const;

	std::string beside_; /* the configuration: a path, or a key in etcd */
	std::string place_;  /* path of the record; mostly the same */
	unsigned replica_;
};

} // namespace prism::rs
