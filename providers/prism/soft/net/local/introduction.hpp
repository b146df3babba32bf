/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How two contexts of one user on one host come to share memory. One connects to the other's name, each asks the kernel
 * who the other is, and each sends one message: who it is, and files. The connection stays: it wakes a sleeper, and
 * ends when either is gone.
 */
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../file_descriptor.hpp"
#include "../packet.hpp"

namespace prism::soft
{

/** Addresses beyond these have no local path. */
inline constexpr std::size_t max_local_addresses = 32;

struct Hello {
	static constexpr std::uint32_t expected_magic = 0x504c4f43;
	static constexpr std::uint32_t current_version = 1;

	std::uint32_t magic = expected_magic;
	std::uint32_t version = current_version; /* of all that is in the shared memory */
	std::uint32_t slot = 0;
	std::uint32_t address_count = 0;
	std::array<Address, max_local_addresses> addresses{};
};

/** Of the one who connects: the rings and its bell. The other has only its bell to send. */
inline constexpr std::size_t max_hello_files = 2;

struct Introduced {
	enum class State {
		waiting, /**< nothing has come yet */
		left,    /**< the other is gone */
		failed,  /**< the other has sent something else, or cannot be heard */
		done,
	};

	State state = State::failed;
	unsigned slot = 0;
	std::vector<Address> addresses;
	std::array<FileDescriptor, max_hello_files> files;
};

/** Takes the name of @p slot; none if somebody has it, or there are no descriptors. */
[[nodiscard]] FileDescriptor listen_for_introductions(unsigned slot);

/** To the owner of @p slot, if it is of our own user; none and errno otherwise. Does not block. */
[[nodiscard]] FileDescriptor connect_to_slot(unsigned slot);

/** The next that waits; none and errno if nobody does, or EACCES if it was of another user and was sent away. */
[[nodiscard]] FileDescriptor accept_introduction(int listener);

/** Whether whoever has connected is the process that listens for @p slot, which hears of this as of a guest that left.
 */
[[nodiscard]] bool is_of_slot(int connection, unsigned slot);

/** False and errno if it cannot be sent. */
bool send_hello(int connection, unsigned slot, std::span<const Address> addresses, std::span<const int> files);

/** Expects exactly @p files files with it. */
[[nodiscard]] Introduced receive_hello(int connection, std::size_t files);

} // namespace prism::soft
