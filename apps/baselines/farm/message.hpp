/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * FaRM's calls. A message is the header (rpc/protocol/header.hpp), then a number of items; fields are in network order,
 * one after another. A request's detail is the number of its lane, below the number of calls at once that the client
 * has announced, and its size the number of its items. A lane has one transaction at a time.
 *
 *  call          item of the request                                               the lane before   afterwards
 *  1 LOCK        kind 1, reply 1, bytes of the key 2, number 4, word 8, key        holds no lock     if OK: holds these
 *                kind 1: the object with this number, in this state; no key
 *                kind 2: this key, which is not there
 *                kind 3: this key, whether it is there or not
 *                number, of kinds 2 and 3: bytes of the value that will come (a hint for readers)
 *  2 VALIDATE    kind 4, number 4, word 8, crc 8                                   any               the same
 *                kind 1: an object, kind 2: a bucket
 *  3 UPDATE      bytes of the value 4, value; 2^32 - 1 and no value: erase it      holds as many     holds none
 *                one for each lock, in their order
 *  4 ABORT       none                                                              any               holds none
 *
 * A response's detail is its result: 0 OK, 1 conflict, 2 full (of LOCK); its size the number of its items: 0, but for a
 * LOCK that is OK one for each item with reply 1: version before 8, version after 8, crc after 8, of the bucket that
 * the key belongs to.
 *
 * A LOCK that is not OK holds nothing. FaRM's LOCK carries the new values, as they have to be in the log when the
 * transaction is decided; there is no log here, and they travel with the UPDATE.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace prism::tx::farm
{

enum class Call : std::uint8_t {
	lock = 1,
	validate = 2,
	update = 3,
	abort = 4,
};

enum class LockKind : std::uint8_t {
	object = 1,
	absent_key = 2,
	any_key = 3,
};

enum class MarkKind : std::uint8_t {
	object = 1,
	bucket = 2,
};

constexpr std::size_t lock_item_size = 16; /* without the key */
constexpr std::size_t validate_item_size = 24;
constexpr std::size_t update_item_size = 4; /* without the value */
constexpr std::size_t lock_reply_size = 24;
constexpr std::uint32_t erase_mark = ~std::uint32_t{0};

} // namespace prism::tx::farm
