/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Introduction by which two contexts of one user on one host come to share memory. One connects to the other's name,
 * each asks the kernel for the other's identity, and each sends one message with its own identity and files. The
 * connection stays open: it wakes a sleeper, and ends when either is gone.
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

/** Most addresses with a local path; further ones have none. */
inline constexpr std::size_t max_local_addresses = 32;

struct Hello {
	static constexpr std::uint32_t expected_magic = 0x504c4f43;
	static constexpr std::uint32_t current_version = 1;

	std::uint32_t magic = expected_magic;
	std::uint32_t version = current_version; /* covers all that is in the shared memory */
	std::uint32_t slot = 0;
	std::uint32_t address_count = 0;
	std::array<Address, max_local_addresses> addresses{};
};

/** Files of a hello: the connecting side sends the rings and its bell, the other only its bell. */
inline constexpr std::size_t max_hello_files = 2;

struct Introduced {
	enum class State {
		waiting, /**< nothing has come yet */
		left,    /**< the other is gone */
		failed,  /**< the other has sent something else, or receiving fails */
		done,
	};

	State state = State::failed;
	unsigned slot = 0;
	std::vector<Address> addresses;
	std::array<FileDescriptor, max_hello_files> files;
};

/** Takes the name of @p slot; returns none if another process has it, or there are no descriptors. */
[[nodiscard]] FileDescriptor listen_for_introductions(unsigned slot);

/** Connects to the owner of @p slot, if it is of our own user; returns none and errno otherwise. Does not block. */
[[nodiscard]] FileDescriptor connect_to_slot(unsigned slot);

/** Returns the next waiting connection; none and errno if there is none, or EACCES if another user's was closed. */
[[nodiscard]] FileDescriptor accept_introduction(int listener);

/** Returns true if the connected process is the one that listens for @p slot. The check reaches that process as a
 * visitor that leaves at once.
 */
[[nodiscard]] bool is_of_slot(int connection, unsigned slot);

/** Returns false and errno if it cannot be sent. */
bool send_hello(int connection, unsigned slot, std::span<const Address> addresses, std::span<const int> files);

/** Receives a hello, which must have exactly @p files files. */
[[nodiscard]] Introduced receive_hello(int connection, std::size_t files);

} // namespace prism::soft
