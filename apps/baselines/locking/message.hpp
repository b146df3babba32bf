/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The calls of two-phase locking. A message is the header (rpc/protocol/header.hpp), then a number of items; fields are
 * in network order, one after another. A request's detail is the number of its lane, below the number of calls at once
 * that the client has announced, and its size the number of its items. A lane has one transaction at a time. What it
 * locks is counted from 0 in the order of the items; this is the position of a lock.
 *
 *  call       item of the request                          what it does, if OK
 *  1 FETCH    bytes of the key 2, key;                     locks these as the mode says
 *             before the items the mode 1:
 *             1 shared, 2 exclusive
 *  2 PREPARE  position 4, bytes of the key 2, key          locks these exclusively
 *  3 COMMIT   position 4, bytes of the key 2, key,         locks these exclusively, changes them,
 *             bytes of the value 4, value                  releases all
 *  4 RELEASE  none                                         releases all
 *
 * An item names a lock that the lane holds by its position, and has no key, or a key that it has not locked yet, with
 * 2^32 - 1 for the position. 2^32 - 1 for the bytes of a value, and no value: the key is erased.
 *
 * A response's detail is its result: 0 OK, 1 conflict, 2 full; its size the number of its items. A FETCH that is OK is
 * answered by one for each key: bytes of the value 4, value; 2^32 - 1: it is not there. All else has none. What is not
 * OK has changed nothing, and the lane holds no lock any more.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace prism::tx::locking
{

enum class Call : std::uint8_t {
	fetch = 1,
	prepare = 2,
	commit = 3,
	release = 4,
};

enum class Mode : std::uint8_t {
	shared = 1,
	exclusive = 2,
};

constexpr std::size_t fetch_item_size = 2;   /* without the key */
constexpr std::size_t prepare_item_size = 6; /* likewise */
constexpr std::size_t commit_item_size = 10; /* likewise, and without the value */
constexpr std::size_t answer_item_size = 4;  /* without the value */
constexpr std::uint32_t no_position = ~std::uint32_t{0};
constexpr std::uint32_t no_value = ~std::uint32_t{0};

/** Size of the part of the Hello that the server adds: longest message 4, shard 4, shards 4, in network order. */
constexpr std::size_t own_part_size = 12;

} // namespace prism::tx::locking
