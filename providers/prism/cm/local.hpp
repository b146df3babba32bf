/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rendezvous of the processes of a host without a list kept by the kernel: they find each other by the names of
 * abstract AF_UNIX datagram sockets. A listener's name holds port space, port and address; a process's holds the upper
 * half of its communication ids. A name is unique in the network namespace, as addresses are, and is free again when
 * its owner has ended, in whatever way. (A child made by fork() without exec holds its parent's names too.)
 *
 * Anybody in the namespace may send to such a socket, as anybody may send packets: the agent checks what belongs to a
 * connection. But a message marked as coming from the network must come from a process of the same user, as only these
 * share an address, and with it QP 1.
 */
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "agent.hpp"
#include "net/file_descriptor.hpp"

namespace prism::cm
{

using soft::FileDescriptor;

/** Message from process to process, with the GIDs that it runs between. */
struct Envelope {
	std::uint32_t magic = 0;
	std::uint8_t from_network = 0; /**< 1 if it came to QP 1 of a process that it does not belong to */
	std::array<std::uint8_t, 3> reserved{};
	Address from;
	Address to;
	Mad mad{};

	static constexpr std::uint32_t expected_magic = 0x70636d31;
};
static_assert(sizeof(Envelope) == 8 + 16 + 16 + mad_size);

/** Returns the name of a listener on @p address; any_service_name(): of one on all of IPv4 or IPv6. */
[[nodiscard]] std::string service_name(PortSpace space, std::uint16_t port, const Address &address);
[[nodiscard]] std::string any_service_name(PortSpace space, std::uint16_t port, bool ipv4);
[[nodiscard]] std::string process_name(std::uint16_t process);

enum class Delivery {
	done,
	busy, /**< the receiver's queue, of often ten messages, is full */
	nobody,
};

/** Returns a socket of that name; none and errno (EADDRINUSE) if the name is taken. */
[[nodiscard]] FileDescriptor claim_name(const std::string &name);

/** Returns EADDRINUSE if somebody has that name, 0 if nobody has, or another errno if it cannot find out (EMFILE). */
[[nodiscard]] int name_in_use(const std::string &name);

[[nodiscard]] Delivery send_to(int socket, const std::string &name, const Envelope &envelope);

/** Returns the names by which the listener of @p path may be found: on its address, or on all. Empty if it cannot
 * exist. */
[[nodiscard]] std::vector<std::string> service_names(const Path &path);

/** Sends to the owner of a name. @return false if nobody has it. */
using Send = std::function<bool(const std::string &name, const Envelope &envelope)>;

/**
 * Hands @p mad to the process that it is meant for, which may be this one: QP 1 is one for all processes of a host, so
 * each may receive what another one waits for.
 * @return false if there is none
 */
bool hand_on(const Send &send, const Address &from, const Address &to, const Mad &mad);

/** Sender of an envelope, as the kernel reports it; the kernel gives a name to one process at a time. */
struct Sender {
	std::uint16_t process = 0; /**< that has this name; 0: none */
	pid_t pid = 0;             /**< 0: of a PID namespace that we cannot see */
};

struct Received {
	Envelope envelope;
	Sender sender;
};

/**
 * Returns nothing if nothing is waiting. Drops up to @p budget datagrams that are no envelopes, or that another user
 * sends as coming from the network.
 */
[[nodiscard]] std::optional<Received> receive_from(int socket, int &budget);

/** Returns false if the process has surely ended, whoever has its name by now. */
[[nodiscard]] bool may_live(pid_t pid);

} // namespace prism::cm
