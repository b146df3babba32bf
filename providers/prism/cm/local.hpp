/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How the processes of a host find each other without a kernel that keeps a list: by the names of abstract AF_UNIX
 * datagram sockets. A listener's name holds port space, port and address; a process's holds the upper half of its
 * communication ids. A name is taken in the network namespace, as the addresses are, and is free again when its owner
 * is gone, however it ended. (A child made by fork() without exec holds its parent's names too.)
 *
 * Anybody in the namespace may send to such a socket, as anybody may send packets: the agent knows what belongs to a
 * connection. Only what is said to come from the network must come from a process of the same user, as only these share
 * an address, and with it QP 1.
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

/** What goes from process to process: a message, and the GIDs between which it runs. */
struct Envelope {
	std::uint32_t magic = 0;
	std::uint8_t from_network = 0; /**< it came to QP 1 of a process that it does not belong to */
	std::array<std::uint8_t, 3> reserved{};
	Address from;
	Address to;
	Mad mad{};

	static constexpr std::uint32_t expected_magic = 0x70636d31;
};
static_assert(sizeof(Envelope) == 8 + 16 + 16 + mad_size);

/** @p address: of a listener on one; without, on all of IPv4 or IPv6. */
[[nodiscard]] std::string service_name(PortSpace space, std::uint16_t port, const Address &address);
[[nodiscard]] std::string any_service_name(PortSpace space, std::uint16_t port, bool ipv4);
[[nodiscard]] std::string process_name(std::uint16_t process);

enum class Delivery {
	done,
	busy, /**< the receiver's queue, of often ten messages, is full */
	nobody,
};

/** A socket of that name; none and errno (EADDRINUSE) if it is taken. */
[[nodiscard]] FileDescriptor claim_name(const std::string &name);

/** EADDRINUSE if somebody has that name, 0 if nobody has; or why it cannot be told, as without descriptors (EMFILE). */
[[nodiscard]] int name_in_use(const std::string &name);

[[nodiscard]] Delivery send_to(int socket, const std::string &name, const Envelope &envelope);

/** Where the listener that @p path names may be found: on its address, or on all. Empty if it cannot exist. */
[[nodiscard]] std::vector<std::string> service_names(const Path &path);

/** Sends to who has a name. @return false if nobody has it. */
using Send = std::function<bool(const std::string &name, const Envelope &envelope)>;

/**
 * QP 1 is one for all processes of a host, and any of them may get what another one waits for. Hands @p mad to the
 * process that it is meant for, which may be this one.
 * @return false if there is none
 */
bool hand_on(const Send &send, const Address &from, const Address &to, const Mad &mad);

/** Who sent an envelope, as the kernel says, which gives a name to one process at a time. */
struct Sender {
	std::uint16_t process = 0; /**< whose name it has; 0: none's */
	pid_t pid = 0;             /**< 0: of a PID namespace that is not to be seen from here */
};

struct Received {
	Envelope envelope;
	Sender sender;
};

/**
 * Nothing if nothing is waiting. What is no envelope is thrown away, up to @p budget of them, and so is another user's
 * that is said to come from the network.
 */
[[nodiscard]] std::optional<Received> receive_from(int socket, int &budget);

/** False if the process has surely ended, whoever has its name by now. */
[[nodiscard]] bool may_live(pid_t pid);

} // namespace prism::cm
