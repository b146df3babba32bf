/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/master_location.hpp"

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/seconds.hpp"
#include "gam/membership/etcd_master.hpp"
#include "gam/membership/master.hpp"
#include "gam/membership/tcp_master.hpp"
#include "service/server_address.hpp"

namespace prism::gam
{

namespace
{

/** Returns the milliseconds of a text of seconds, if leases may be that long. */
std::optional<std::chrono::milliseconds> lease_of(const std::string &text)
{
	double seconds = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
	const std::chrono::milliseconds lease = apps::milliseconds(seconds);
	const bool is_number = error == std::errc() && end == text.data() + text.size();
	return is_number && lease >= Master::shortest_lease && lease <= Master::longest_lease ? std::optional(lease)
											      : std::nullopt;
}

Result<std::unique_ptr<MasterChannel>> reach_etcd(const std::string &location, const MasterAccess &access)
{
	constexpr std::string_view option = "?lease=";
	const std::size_t at = location.find('?');
	std::chrono::milliseconds lease = access.lease;
	if (at != std::string::npos) {
		if (!location.substr(at).starts_with(option))
			return make_error(EINVAL, "'" + location + "': there is no such option",
				"write etcd://HOST:PORT/KEY?lease=SECONDS");
		const std::optional<std::chrono::milliseconds> wanted = lease_of(location.substr(at + option.size()));
		if (!wanted)
			return make_error(EINVAL, "'" + location + "': leases have 0.05 to 600 seconds",
				"write etcd://HOST:PORT/KEY?lease=SECONDS");
		lease = *wanted;
	}
	Result<apps::EtcdKey> key = apps::EtcdKey::parse(location.substr(0, at), access.patience);
	if (!key)
		return key.error();
	return std::unique_ptr<MasterChannel>(
		std::make_unique<EtcdMaster>(*std::move(key), lease, access.patience, access.history));
}

} // namespace

Result<std::unique_ptr<MasterChannel>> reach_master(const std::string &location, const MasterAccess &access)
{
	if (apps::EtcdKey::is(location))
		return reach_etcd(location, access);
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
