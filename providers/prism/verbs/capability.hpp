/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The capability record of a device (S.10): 16 bytes that applications carry to the peer. */
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "../prismdv.h"

extern "C" {
#include "prism_wire.h"
}

namespace prism
{

/** Features that every device has, since protocol version 1. */
inline constexpr std::uint64_t version_features =
	PRISMDV_FEATURE_INDIRECT | PRISMDV_FEATURE_BOUNDED | PRISMDV_FEATURE_DATA_INDIRECT |
	PRISMDV_FEATURE_CONDITIONAL | PRISMDV_FEATURE_REDIRECT | PRISMDV_FEATURE_CAS | PRISMDV_FEATURE_ALLOCATE;
inline constexpr std::uint64_t known_features = version_features | PRISMDV_FEATURE_RESUME;

/** Bytes of a READ, or of a WRITE with D, that every responder takes (F8); the record does not say more. */
inline constexpr std::uint32_t version_max_read = 1 << 20;

/** Mark beside the features of a queue pair's peer: it has been declared capable, even if of no feature. */
inline constexpr std::uint64_t peer_declared = std::uint64_t{1} << 63;
/** Mark beside them: both ends speak a version that has bundles (W.12). */
inline constexpr std::uint64_t peer_bundles = std::uint64_t{1} << 62;
inline constexpr std::uint32_t version_with_bundles = 2;

inline constexpr std::uint8_t capability_magic[4] = {'P', 'R', 'S', 'M'};

/** Fills in the record; @p version is the highest that the device speaks. */
inline void encode_capability(prismdv_capability &record, std::uint32_t version, std::uint64_t features)
{
	record = {};
	std::copy(std::begin(capability_magic), std::end(capability_magic), record.bytes);
	record.bytes[4] = PRISM_LOWEST_VERSION;
	record.bytes[5] = static_cast<std::uint8_t>(version);
	put_unaligned_be64(features, record.bytes + 8);
}

/** Decodes a peer's record: stores its features with peer_declared, and peer_bundles if both versions have them.
 * Returns 0 or an errno. */
inline int decode_capability(const prismdv_capability &record, std::uint32_t version, std::uint64_t &features)
{
	const std::uint8_t low = record.bytes[4], high = record.bytes[5];
	if (!std::equal(std::begin(capability_magic), std::end(capability_magic), record.bytes) || !low || low > high)
		return EINVAL;
	if (low > version || high < PRISM_LOWEST_VERSION)
		return EPROTONOSUPPORT;
	features = (get_unaligned_be64(record.bytes + 8) & known_features) | peer_declared;
	if (std::min<std::uint32_t>(high, version) >= version_with_bundles)
		features |= peer_bundles;
	return 0;
}

} // namespace prism
