/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "founding_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "service/etcd.hpp"

namespace prism::rs
{

namespace
{

/** Resolves links: all links to a configuration must lead to the same record. */
std::string real_path(const std::string &location)
{
	std::error_code error;
	const std::filesystem::path path = std::filesystem::canonical(location, error);
	return error ? location : path.string();
}

/** Makes the entry of @p path in its folder outlive a crash. */
int sync_folder(const std::string &path)
{
	const std::filesystem::path folder = std::filesystem::path(path).parent_path();
	const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return fd.get() < 0 || ::fsync(fd.get()) ? errno : 0;
}

} // namespace

FoundingRecord::FoundingRecord(
	const std::string &location, const Configuration &volume, unsigned replica, const std::string &folder)
	: beside_(fmt::format("{}.{:016x}.replica-{}", apps::EtcdKey::is(location) ? location : real_path(location),
		  volume.volume, replica)),
	  place_(folder.empty() || apps::EtcdKey::is(location)
			  ? beside_
			  : fmt::format("{}/{:016x}.replica-{}", folder, volume.volume, replica)),
	  replica_(replica)
{
}

Error FoundingRecord::exists(const std::string &place) const
{
	return make_error(EEXIST,
		fmt::format("replica {} is not new: {} tells that it was there before", replica_, place),
		"start it without --new: what it had is gone, and the others repair it");
}

Result<void> FoundingRecord::check_absent() const
{
	if (apps::EtcdKey::is(place_)) {
		Result<apps::EtcdKey> key = apps::EtcdKey::parse(place_);
		if (!key)
			return key.error();
		Result<std::string> there = key->get();
		if (there)
			return exists(place_);
		return there.error().code == ENOENT ? Result<void>() : there.error();
	}
	for (const std::string &place : {beside_, place_}) {
		if (!::access(place.c_str(), F_OK))
			return exists(place);
	}
	const std::filesystem::path folder = std::filesystem::path(place_).parent_path();
	if (errno != ENOENT || ::access(folder.empty() ? "." : folder.c_str(), W_OK))
		return make_error(errno, "cannot make the record " + place_);
	return {};
}

Result<void> FoundingRecord::keep() const
{
	const Result<void> created = create();
	return !created && created.error().code == EEXIST ? Result<void>() : created;
}

Result<void> FoundingRecord::create() const
{
	const std::string text = fmt::format("replica {} has been part of the volume\n", replica_);
	if (apps::EtcdKey::is(place_)) {
		Result<apps::EtcdKey> key = apps::EtcdKey::parse(place_);
		if (!key)
			return key.error();
		const Result<void> created = key->create(text);
		return !created && created.error().code == EEXIST ? exists(place_) : created;
	}
	const Descriptor fd(::open(place_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
	if (fd.get() < 0)
		return errno == EEXIST ? exists(place_) : make_error(errno, "cannot make the record " + place_);
	const bool written = ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
	int error = written && !::fsync(fd.get()) ? 0 : errno ? errno : EIO;
	error = error ? error : sync_folder(place_);
	if (!error)
		return {};
	::unlink(place_.c_str()); /* remove it: the replica ends before it has promised anything */
	return make_error(error, "cannot write the record " + place_);
}

} // namespace prism::rs
