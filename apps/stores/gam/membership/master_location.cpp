/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/master_location.hpp"

#include "gam/membership/etcd_master.hpp"
#include "gam/membership/tcp_master.hpp"
#include "service/server_address.hpp"

namespace prism::gam
{

Result<std::unique_ptr<MasterChannel>> reach_master(const std::string &location, const MasterAccess &access)
{
	if (apps::EtcdKey::is(location)) {
		Result<apps::EtcdKey> key = apps::EtcdKey::parse(location, access.patience);
		if (!key)
			return key.error();
		return std::unique_ptr<MasterChannel>(
			std::make_unique<EtcdMaster>(*std::move(key), access.lease, access.patience, access.history));
	}
	const Result<apps::ServerAddress> address = apps::ServerAddress::parse(location, default_master_port);
	if (!address)
		return address.error();
	return std::unique_ptr<MasterChannel>(
		std::make_unique<TcpMaster>(address->host, address->port, access.patience));
}

std::string check_master(const std::string &location)
{
	const Result<std::unique_ptr<MasterChannel>> channel = reach_master(location);
	return channel ? std::string() : channel.error().message;
}

} // namespace prism::gam
