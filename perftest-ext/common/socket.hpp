/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TCP sockets of a measuring tool: a server listens, one client connects. Failures are thrown as Error with advice. */
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "common/error.hpp"

namespace prism::perftest
{

/** Time for a peer to answer: a server first makes its memory. The functions below fail when it is over. */
inline constexpr std::chrono::seconds answer_patience{30};

/** Listens on @p port, IPv6 and IPv4. */
[[nodiscard]] Descriptor listen_on(std::uint16_t port);

/** Accepts the next client. */
[[nodiscard]] Descriptor accept_socket(const Descriptor &listener);

/** Connects to the server on @p host. Waits up to five seconds for the name's address, and for a server that was just
 * started and does not listen yet. */
[[nodiscard]] Descriptor connect_socket(const std::string &host, std::uint16_t port);

/** Makes the error of a peer that does not answer. */
[[nodiscard]] Error silent_peer();

/** Sends all of @p bytes. */
void send_all(const Descriptor &connected, std::span<const std::byte> bytes);

/** Fills @p bytes with what the peer sends. */
void receive_all(const Descriptor &connected, std::span<std::byte> bytes);

} // namespace prism::perftest
