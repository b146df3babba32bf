/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "command_line.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include <CLI/CLI.hpp>

namespace prism::cli
{

namespace
{

constexpr int usage = 2;

/** Of any kind of CLI11's. */
std::shared_ptr<const CLI::Validator> share(const CLI::Validator &validator)
{
	return std::make_shared<const CLI::Validator>(validator);
}

std::vector<std::string> strings(std::initializer_list<const char *> words)
{
	return {words.begin(), words.end()};
}

EarlyExit early_exit(const CLI::App &app, const CLI::ParseError &error)
{
	std::ostringstream text;
	const int code = app.exit(error, text, text);
	return {code, text.str()};
}

} // namespace

int EarlyExit::print() const
{
	std::fputs(text.c_str(), code ? stderr : stdout);
	return code;
}

EarlyExit usage_error(std::string_view program, std::string_view text)
{
	std::ostringstream whole;
	whole << program << ": " << text << "\nTry '" << program << " --help'.\n";
	return {usage, whole.str()};
}

/* What a value must be --------------------------------------------------------------------------------------------- */

Range::Range(int least, int most) : Check(share(CLI::Range(least, most))) {}

Range::Range(std::uint32_t least, std::uint32_t most) : Check(share(CLI::Range(least, most))) {}

Range::Range(std::uint64_t least, std::uint64_t most) : Check(share(CLI::Range(least, most))) {}

Range::Range(double least, double most) : Check(share(CLI::Range(least, most))) {}

PositiveNumber::PositiveNumber() : Check(share(CLI::PositiveNumber)) {}

NonNegativeNumber::NonNegativeNumber() : Check(share(CLI::NonNegativeNumber)) {}

ExistingFile::ExistingFile() : Check(share(CLI::ExistingFile)) {}

ExistingDirectory::ExistingDirectory() : Check(share(CLI::ExistingDirectory)) {}

IsMember::IsMember(std::initializer_list<int> numbers) : Check(share(CLI::IsMember(std::vector<int>(numbers)))) {}

IsMember::IsMember(std::initializer_list<const char *> words) : IsMember(strings(words)) {}

IsMember::IsMember(std::initializer_list<const char *> words, IgnoreCase /*unused*/)
	: Check(share(CLI::IsMember(strings(words), CLI::ignore_case)))
{
}

IsMember::IsMember(const std::vector<std::string> &words) : Check(share(CLI::IsMember(words))) {}

/* Options ---------------------------------------------------------------------------------------------------------- */

Option Option::check(const Check &check) const
{
	option_->check(*check.validator_);
	return *this;
}

Option Option::check(const std::function<std::string(const std::string &)> &problem) const
{
	option_->check(problem);
	return *this;
}

Option Option::required() const
{
	option_->required();
	return *this;
}

Option Option::excludes(const Option &other) const
{
	option_->excludes(other.option_);
	return *this;
}

Option Option::capture_default_str() const
{
	option_->capture_default_str();
	return *this;
}

Option Option::delimiter(char between) const
{
	option_->delimiter(between);
	return *this;
}

/* Commands --------------------------------------------------------------------------------------------------------- */

template <typename Target>
Option Command::add_option(const std::string &names, Target &target, const std::string &help)
{
	return Option(app_->add_option(names, target, help));
}

template Option Command::add_option(const std::string &, int &, const std::string &);
template Option Command::add_option(const std::string &, std::int64_t &, const std::string &);
template Option Command::add_option(const std::string &, std::uint16_t &, const std::string &);
template Option Command::add_option(const std::string &, std::uint32_t &, const std::string &);
template Option Command::add_option(const std::string &, std::uint64_t &, const std::string &);
template Option Command::add_option(const std::string &, double &, const std::string &);
template Option Command::add_option(const std::string &, std::string &, const std::string &);
template Option Command::add_option(const std::string &, std::filesystem::path &, const std::string &);
template Option Command::add_option(const std::string &, std::optional<int> &, const std::string &);
template Option Command::add_option(const std::string &, std::optional<std::uint16_t> &, const std::string &);
template Option Command::add_option(const std::string &, std::optional<std::uint32_t> &, const std::string &);
template Option Command::add_option(const std::string &, std::optional<std::uint64_t> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<unsigned> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<double> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<std::string> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<std::filesystem::path> &, const std::string &);

Option Command::add_flag(const std::string &names, bool &target, const std::string &help)
{
	return Option(app_->add_flag(names, target, help));
}

Option Command::add_flag(const std::string &names, int &target, const std::string &help)
{
	return Option(app_->add_flag(names, target, help));
}

Option Command::add_word(const std::string &names, const std::vector<std::string> &words,
	const std::function<void(std::size_t)> &choose, const std::string &help)
{
	std::map<std::string, std::size_t> places;
	for (std::size_t i = 0; i < words.size(); i++)
		places.emplace(words[i], i);
	const auto chosen = [places, choose](const std::string &word) { choose(places.at(word)); };
	return Option(app_->add_option_function<std::string>(names, chosen, help)->check(CLI::IsMember(places)));
}

Command Command::add_subcommand(const std::string &name, const std::string &help)
{
	return Command(app_->add_subcommand(name, help));
}

void Command::require_subcommand(int number)
{
	app_->require_subcommand(number);
}

void Command::callback(const std::function<void()> &action)
{
	app_->callback(action);
}

bool Command::parsed() const
{
	return app_->parsed();
}

std::size_t Command::count(const std::string &name) const
{
	return app_->count(name);
}

void Command::footer(const std::string &text)
{
	app_->footer(text);
}

CommandLine::CommandLine(const std::string &description, const std::string &program)
	: CommandLine(std::make_unique<CLI::App>(description, program))
{
}

CommandLine::CommandLine(std::unique_ptr<CLI::App> app) : Command(app.get()), owned_(std::move(app)) {}

CommandLine::~CommandLine() = default;

void CommandLine::add_version(std::string_view program)
{
	app().set_version_flag("-V,--version", std::string(program) + " " PRISM_VERSION, "Print the version and exit");
}

void CommandLine::add_help_and_version(std::string_view program)
{
	app().set_help_flag("-h,--help", "Print this help and exit");
	add_version(program);
}

void CommandLine::add_config(const std::string &names, const std::string &help)
{
	app().set_config(names, "", help);
	app().allow_config_extras(CLI::config_extras_mode::error);
}

std::optional<EarlyExit> CommandLine::parse(int argc, const char *const *argv)
{
	try {
		app().parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return early_exit(app(), error);
	}
	return std::nullopt;
}

std::optional<EarlyExit> CommandLine::parse(std::string_view program, int argc, const char *const *argv)
{
	try {
		app().parse(argc, argv);
	} catch (const CLI::Success &success) {
		return early_exit(app(), success);
	} catch (const CLI::ParseError &error) {
		return usage_error(program, error.what());
	}
	return std::nullopt;
}

} // namespace prism::cli
