/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gam/driver/driver_options.hpp"
#include "gam/api/joined_node.hpp"
#include "gam/api/session.hpp"

namespace prism::gam
{

/** The store that a driver uses. */
struct DriverStore {
	std::string name; /**< name under which the master has its address */
	Protocol protocol = Protocol::directory;
	std::string master;      /**< HOST:PORT */
	std::string device;      /**< empty: the first one */
	double timeout = 5;      /**< seconds to join, and to find the store */
	std::uint64_t bytes = 0; /**< bytes that it has when it is loaded */
	bool loads = false;      /**< true: loads it now, and makes another if a part has died with a node */
};

/**
 * The nodes in a process of a driver. They lend next to nothing: the store is on the nodes that were there before, and
 * stays when the driver has left. Any thread.
 */
class DriverNodes
{
public:
	/** Makes the store on the given nodes, and returns the address by which others open it. */
	using Make = std::function<Result<Address>(Session &session, const std::vector<NodeId> &nodes)>;
	/** Returns true if all nodes that have a part of the store at @p address are present. */
	using IsWhole = std::function<bool(Session &session, Address address)>;

	/** Joins the cluster. Errors: those of JoinedNode::join() and of the device. */
	static Result<std::shared_ptr<DriverNodes>> join(const DriverOptions &options, const DriverStore &store);
	/** The nodes leave, and write back their caches. No client may exist. */
	~DriverNodes();
	DriverNodes(const DriverNodes &) = delete;
	DriverNodes &operator=(const DriverNodes &) = delete;

	/** Returns the node of client number @p client; clients take the nodes in turn. */
	[[nodiscard]] Node &node_of(unsigned client) noexcept { return joined_of(client).node(); }

	/**
	 * Returns the address of the store. If it is to be loaded, client 0 makes it if there is none; all others wait
	 * for that. Errors: ENOENT (it is not to be loaded, and nobody has), ETIMEDOUT (nobody has made it); ENODEV (no
	 * node lends memory, and none has come); those of @p make, and of the master.
	 */
	Result<Address> find(unsigned client, const Make &make, const IsWhole &is_whole);

private:
	explicit DriverNodes(const DriverStore &store) : store_(store) {}

	[[nodiscard]] JoinedNode &joined_of(unsigned client) noexcept { return *joined_[client % joined_.size()]; }
	Result<Address> make(JoinedNode &joined, const Make &make);
	[[nodiscard]] bool is_usable(JoinedNode &joined, Address store, const IsWhole &is_whole) const;

	const DriverStore store_;
	std::vector<std::unique_ptr<JoinedNode>> joined_;
};

} // namespace prism::gam
