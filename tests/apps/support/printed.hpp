/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace prism::test
{

struct CloseFile {
	void operator()(std::FILE *file) const noexcept { std::fclose(file); }
};

/** Returns the output of @p print (std::FILE *). */
template <typename Print>
std::string printed_by(Print print)
{
	const std::unique_ptr<std::FILE, CloseFile> file(std::tmpfile());
	if (!file)
		throw std::runtime_error("no temporary file");
	print(file.get());
	std::string text(static_cast<std::size_t>(std::ftell(file.get())), '\0');
	std::rewind(file.get());
	if (std::fread(text.data(), 1, text.size(), file.get()) != text.size())
		throw std::runtime_error("what was printed cannot be read");
	return text;
}

} // namespace prism::test
