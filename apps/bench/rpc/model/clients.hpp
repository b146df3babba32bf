/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A thread that calls, by each of the ways. */
#pragma once

#include <memory>

#include "bench/rpc/model/world.hpp"

namespace prism::rpc::model
{

class Client
{
public:
	Client() = default;
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;
	virtual ~Client() = default;
	/** Makes it call from now on, for ever. */
	virtual void start() = 0;
};

/** Makes a thread of node @p node, or of the server, if the way is out_bound. */
[[nodiscard]] std::unique_ptr<Client> make_client(World &world, unsigned node);

} // namespace prism::rpc::model
