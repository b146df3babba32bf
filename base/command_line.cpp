/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "command_line.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "failure_text.hpp"
#include "printable.hpp"
#include "regular_file.hpp"
#include "standard_streams.hpp"
#include "terminal.hpp"

namespace prism::cli
{

namespace
{

constexpr int usage = 2;
constexpr double most_seconds = 1e6;
/* Most bytes of a configuration file; no sensible one has more. */
constexpr std::size_t longest_config = std::size_t{1} << 20;

bool is_control(char character) noexcept
{
	return static_cast<unsigned char>(character) < ' ' || character == 0x7f;
}

/** Escapes what is not ASCII: part of a file may be no text at all. */
std::string in_ascii(std::string_view found)
{
	std::string text;
	for (const char character : found) {
		if (is_control(character) || static_cast<unsigned char>(character) > 0x7f)
			apps::append_escaped(text, character);
		else
			text += character;
	}
	return text;
}

/** Quotes part of a file for a message, limited in length. */
std::string in_quotes(std::string_view found)
{
	constexpr std::size_t most = 60;
	return "'" + in_ascii(found.substr(0, most)) + (found.size() > most ? "...'" : "'");
}

/** Copies a validator of any of CLI11's types. */
std::shared_ptr<const CLI::Validator> share(const CLI::Validator &validator)
{
	return std::make_shared<const CLI::Validator>(validator);
}

std::vector<std::string> strings(std::initializer_list<const char *> words)
{
	return {words.begin(), words.end()};
}

/** Returns the text of an error as it may be shown. It quotes what was given, which may be as long as a file. */
std::string shown(std::string text)
{
	constexpr std::size_t kept = 2048; /* of each end */
	if (text.size() > 2 * kept)
		text.replace(kept, text.size() - 2 * kept, " ... ");
	return apps::printable(text, true);
}

EarlyExit early_exit(const CLI::App &app, const CLI::ParseError &error)
{
	std::ostringstream text;
	const int code = app.exit(error, text, text);
	return {code, code ? shown(text.str()) : text.str()};
}

} // namespace

int EarlyExit::print() const
{
	std::fputs(text.c_str(), code ? stderr : stdout);
	return finish_output(code);
}

EarlyExit usage_error(std::string_view program, std::string_view text)
{
	std::ostringstream whole;
	whole << program << ": " << shown(std::string(text)) << "\nTry '" << program << " --help'.\n";
	return {usage, whole.str()};
}

/* Messages --------------------------------------------------------------------------------------------------------- */

void complain(std::string_view text)
{
	const std::string line = std::string(program_invocation_short_name) + ": " + apps::printable(text, true) + "\n";
	std::fwrite(line.data(), 1, line.size(), stderr);
}

/* The end of a program --------------------------------------------------------------------------------------------- */

void outlive_outputs() noexcept
{
	(void)std::signal(SIGPIPE, SIG_IGN);
	(void)std::signal(SIGXFSZ, SIG_IGN);
}

/** Writes a beginning of @p text, for which there is room; returns its size. 0: the room is too small. */
static std::size_t write_beginning(std::string_view text)
{
	const Descriptor terminal = apps::terminal_that_does_not_wait(STDOUT_FILENO);
	if (terminal.get() >= 0) {
		const ssize_t taken = ::write(terminal.get(), text.data(), text.size());
		if (taken >= 0 || errno == EAGAIN)
			return static_cast<std::size_t>(std::max<ssize_t>(taken, 0));
	}
	const std::string_view piece = text.substr(0, PIPE_BUF); /* a pipe with room takes it at once */
	std::fwrite(piece.data(), 1, piece.size(), stdout);
	std::fflush(stdout);
	return piece.size();
}

void print_or_end(std::string_view text)
{
	sigset_t blocked;
	pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
	sigdelset(&blocked, SIGINT);
	sigdelset(&blocked, SIGTERM);
	constexpr timespec pause{0, 10'000'000};
	while (!text.empty()) {
		pollfd room{STDOUT_FILENO, POLLOUT, 0};
		if (::ppoll(&room, 1, nullptr, &blocked) < 0 && errno == EINTR)
			continue;
		const std::size_t taken = write_beginning(text);
		text.remove_prefix(taken);
		if (!taken)
			(void)::ppoll(nullptr, 0, &pause, &blocked);
	}
}

/* Set by the program's thread that runs its commands. */
static bool has_changed = false;

void note_change() noexcept
{
	has_changed = true;
}

constexpr const char *changed_all_the_same = "something was changed all the same, or may have been";

int finish_output(int code)
{
	errno = 0;
	if (!std::fflush(stdout) && !std::ferror(stdout)) {
		if (code != 1 || !has_changed)
			return code;
		complain(changed_all_the_same);
		return changed;
	}
	const std::string why = errno ? std::string(": ") + std::strerror(errno) : ""; /* 0: an earlier write failed */
	complain("cannot write to the standard output" + why +
		 (has_changed ? std::string("; ") + changed_all_the_same : ""));
	return has_changed ? changed : std::max(code, 1);
}

int run_program(const std::function<int()> &body)
{
	try {
		return finish_output(body());
	} catch (const std::system_error &error) { /* by fmt, for an output that takes nothing any more, or by others */
		if (!std::ferror(stdout))
			complain(text_of(error));
		return finish_output(1);
	} catch (const std::bad_alloc &) {
		complain(no_memory);
		return finish_output(1);
	}
}

/* Numbers ---------------------------------------------------------------------------------------------------------- */

namespace
{

template <typename Number>
std::string describe_numbers()
{
	if constexpr (std::is_floating_point_v<Number>)
		return "number";
	else
		return "whole number from " + std::to_string(std::numeric_limits<Number>::min()) + " to " +
		       std::to_string(std::numeric_limits<Number>::max());
}

/** Returns true for "010", which CLI11 takes as octal, and who writes it seldom. */
bool may_be_octal(std::string_view text)
{
	text.remove_prefix(std::min(text.find_first_not_of("+-"), text.size()));
	return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/** Returns the reason why @p text is no Number, or nothing. CLI11 would accept "nan" and "inf" as numbers, and -1 as
 * the largest one without a sign. */
template <typename Number>
std::string check_number(const std::string &text)
{
	Number number{};
	bool good = CLI::detail::lexical_cast(text, number);
	if constexpr (std::is_floating_point_v<Number>) {
		good = good && std::isfinite(number);
	} else { /* of 64 bits, CLI11 takes the largest for all that are larger */
		errno = 0;
		(void)std::strtoull(text.c_str(), nullptr, 0);
		good = good && errno != ERANGE;
	}
	if (std::is_integral_v<Number> && may_be_octal(text))
		return "'" + text + "' begins with 0; write the number without that";
	if constexpr (std::is_unsigned_v<Number>)
		good = good && text.find('-') == std::string::npos;
	if (good)
		return {};
	double written_otherwise = 0; /* for example 1e6 or 2.0 */
	const bool has_digits = !std::is_floating_point_v<Number> &&
				CLI::detail::lexical_cast(text, written_otherwise) &&
				text.find_first_of("eE.") != std::string::npos;
	return "'" + text + "' is no " + describe_numbers<Number>() + (has_digits ? ", in digits alone" : "");
}

/** Checks for names that all releases of CLI11 take: Debian 13's throws for some that Debian 12's takes. */
const std::string &checked(const std::string &names)
{
	if (names.find_first_of("=: ") != std::string::npos)
		throw std::invalid_argument("'" + names + "' is no name of an option");
	return names;
}

std::string check_seconds(std::string &text)
{
	double seconds = -1;
	const bool good = CLI::detail::lexical_cast(text, seconds) && seconds >= 0 && seconds <= most_seconds;
	return good ? std::string() : "'" + text + "' is no number of seconds from 0 to 1000000";
}

/* Our own messages: CLI11's print the largest number there is, with 300 digits. */

std::string check_positive(std::string &text)
{
	double number = 0;
	const bool good = CLI::detail::lexical_cast(text, number) && number > 0;
	return good ? std::string() : "'" + text + "' is no number above 0";
}

std::string check_not_negative(std::string &text)
{
	double number = -1;
	const bool good = CLI::detail::lexical_cast(text, number) && number >= 0;
	return good ? std::string() : "'" + text + "' is no number from 0 on";
}

std::string check_not_empty(std::string &text)
{
	return text.empty() ? "its value is empty" : std::string();
}

/** Type of each value of an option whose variable is a Target. */
template <typename Target>
struct ValueOf {
	using Type = Target;
};
template <typename Value>
struct ValueOf<std::optional<Value>> {
	using Type = Value;
};
template <typename Value>
struct ValueOf<std::vector<Value>> {
	using Type = Value;
};

} // namespace

/* Checks of values ------------------------------------------------------------------------------------------------- */

Range::Range(int least, int most) : Check(share(CLI::Range(least, most))) {}

Range::Range(std::uint32_t least, std::uint32_t most) : Check(share(CLI::Range(least, most))) {}

Range::Range(std::uint64_t least, std::uint64_t most) : Check(share(CLI::Range(least, most))) {}

Range::Range(double least, double most) : Check(share(CLI::Range(least, most))) {}

Seconds::Seconds() : Check(share(CLI::Validator(check_seconds, {}, "SECONDS"))) {}

PositiveNumber::PositiveNumber() : Check(share(CLI::Validator(check_positive, "POSITIVE"))) {}

NonNegativeNumber::NonNegativeNumber() : Check(share(CLI::Validator(check_not_negative, "NONNEGATIVE"))) {}

ExistingFile::ExistingFile() : Check(share(CLI::ExistingFile)) {}

NotEmpty::NotEmpty() : Check(share(CLI::Validator(check_not_empty, {}))) {}

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
	CLI::Option *const option = app_->add_option(checked(names), target, help);
	using Value = typename ValueOf<Target>::Type;
	if constexpr (std::is_arithmetic_v<Value>)
		option->check(check_number<Value>);
	return Option(option);
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
template Option Command::add_option(const std::string &, std::optional<double> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<unsigned> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<double> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<std::string> &, const std::string &);
template Option Command::add_option(const std::string &, std::vector<std::filesystem::path> &, const std::string &);

Option Command::add_flag(const std::string &names, bool &target, const std::string &help)
{
	return Option(app_->add_flag(checked(names), target, help));
}

Option Command::add_flag(const std::string &names, int &target, const std::string &help)
{
	return Option(app_->add_flag(checked(names), target, help));
}

Option Command::add_word(const std::string &names, const std::vector<std::string> &words,
	const std::function<void(std::size_t)> &choose, const std::string &help)
{
	std::map<std::string, std::size_t> places;
	for (std::size_t i = 0; i < words.size(); i++)
		places.emplace(words[i], i);
	const auto chosen = [places, choose](const std::string &word) { choose(places.at(word)); };
	return Option(
		app_->add_option_function<std::string>(checked(names), chosen, help)->check(CLI::IsMember(places)));
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

/* The description -------------------------------------------------------------------------------------------------- */

namespace
{

/* Must be alone on a line: the program then prints its options, and exits. completions.py makes completions for
 * shells of them. */
constexpr std::string_view describe = "--describe-options";

/** Makes a help text a field of the description, which is on one line, without tabs. */
std::string as_field(std::string text)
{
	std::replace_if(text.begin(), text.end(), is_control, ' ');
	return text;
}

/** Returns the type of an option's value; empty for a flag. */
std::string type_of(const CLI::Option &option)
{
	if (option.get_items_expected_max() == 0)
		return {};
	const std::string type = as_field(option.get_type_name());
	return type.empty() ? "TEXT" : type; /* CLI11 has no type name for configuration files */
}

/** Writes "option\tSUBCOMMAND\tNAMES\tTYPE\tHELP", or "argument" for an option that is known by its place. */
void describe_option(const CLI::Option &option, const std::string &subcommand, std::ostream &text)
{
	const bool by_place = !option.nonpositional();
	text << (by_place ? "argument" : "option") << '\t' << subcommand << '\t' << option.get_name(by_place, true)
	     << '\t' << type_of(option) << '\t' << as_field(option.get_description()) << '\n';
}

/** Describes the options of a command, and, each after a line "command\tSUBCOMMAND\tHELP", those of its subcommands. */
void describe_command(const CLI::App &command, const std::string &subcommand, std::ostream &text)
{
	for (const CLI::Option *const option : command.get_options())
		describe_option(*option, subcommand, text);
	for (const CLI::App *const below : command.get_subcommands([](const CLI::App * /*any*/) { return true; })) {
		text << "command\t" << below->get_name() << '\t' << as_field(below->get_description()) << '\n';
		describe_command(*below, below->get_name(), text);
	}
}

std::optional<EarlyExit> description_if_asked(const CLI::App &app, int argc, const char *const *argv)
{
	if (argc != 2 || argv[1] != describe)
		return std::nullopt;
	std::ostringstream text;
	describe_command(app, {}, text);
	return EarlyExit{0, text.str()};
}

} // namespace

/* Configuration files ---------------------------------------------------------------------------------------------- */

namespace
{

/** Reads a file for the options of a program. Applies them itself, so that errors name the file and the line. */
class ConfigFile final : public CLI::ConfigTOML
{
public:
	ConfigFile(CLI::App &app, std::string option) : app_(app), option_(std::move(option)) {}

	/** Reads the file @p path. Returns the reason why that cannot be, or nothing. */
	std::string read(const std::string &path)
	{
		path_ = path;
		text_.clear();
		const int error = read_regular_file(path, longest_config, text_);
		return error ? "cannot read '" + path + "': " + why_unread(error) : std::string();
	}

	/** Applies all options that have been read, and leaves none for CLI11. */
	std::vector<CLI::ConfigItem> from_config(std::istream & /*of the file*/) const override
	{
		const auto of_line = app_.get_options([](const CLI::Option *option) { return option->count() > 0; });
		const std::set<CLI::Option *> decided(of_line.begin(), of_line.end());
		std::set<CLI::Option *> seen;
		const toml::table table = parse();
		for (const auto &[position, entry] : in_order(table)) {
			CLI::ConfigItem item;
			item.name = entry->first.str();
			CLI::Option &option = option_of(item.name, entry->second, position.line);
			item.inputs = words_of(item.name, entry->second, position.line);
			if (decided.contains(&option)) /* the command line takes precedence */
				continue;
			if (!seen.insert(&option).second)
				refuse(in_quotes(item.name) + " is there twice; " +
						(option.get_expected_max() > 1
								? "write several values as a list, [\"a\", \"b\"]"
								: "remove one"),
					position.line);
			apply(option, item, position.line);
		}
		return {};
	}

private:
	static constexpr const char *form =
		"write NAME = 7 or NAME = \"text\", or of several a list, NAME = [\"a\", \"b\"]";

	[[noreturn]] void refuse(const std::string &what, std::size_t line = 0) const
	{
		throw CLI::ConfigError(
			option_ + ": " + path_ + (line ? ", line " + std::to_string(line) : "") + ": " + what,
			CLI::ExitCodes::ConfigError);
	}

	[[nodiscard]] toml::table parse() const
	{
		if (text_.size() > longest_config)
			refuse("this is longer than 1 MiB");
		check_dots();
		try {
			return toml::parse(text_);
		} catch (const toml::parse_error &error) {
			refuse(in_ascii(error.description()) + "; " + form, error.source().begin.line);
		}
	}

	/** Refuses names of thousands of parts: what toml++ makes of each is one more table in the others, which it
	 * visits by calling itself. */
	void check_dots() const
	{
		constexpr std::size_t most_dots = 1000;
		std::istringstream lines(text_);
		std::string line;
		std::size_t dots = 0;
		for (std::size_t number = 1; std::getline(lines, line); number++)
			if ((dots += bare_dots(line)) > most_dots)
				refuse("there are more than 1000 dots up to here, without those in texts and comments",
					number);
	}

	/** Returns the number of dots in the line that may be between parts of a name: of all, if a text of several
	 * lines may begin or end there. */
	static std::size_t bare_dots(std::string_view line)
	{
		if (line.find("\"\"\"") != line.npos || line.find("'''") != line.npos)
			return static_cast<std::size_t>(std::ranges::count(line, '.'));
		std::size_t dots = 0;
		char quote = 0;
		for (std::size_t i = 0; i < line.size() && (quote || line[i] != '#'); i++) {
			if (quote == '"' && line[i] == '\\')
				i++;
			else if (quote)
				quote = line[i] == quote ? '\0' : quote;
			else if (line[i] == '"' || line[i] == '\'')
				quote = line[i];
			else
				dots += line[i] == '.';
		}
		return dots;
	}

	/** Sorts the entries of a table, which sorts them by name, by their places in the file. */
	static std::map<toml::source_position, toml::table::const_iterator> in_order(const toml::table &table)
	{
		std::map<toml::source_position, toml::table::const_iterator> sorted;
		for (auto entry = table.begin(); entry != table.end(); ++entry)
			sorted.emplace(entry->first.source().begin, entry);
		return sorted;
	}

	[[nodiscard]] CLI::Option *find(const std::string &name) const
	{
		CLI::Option *const option = app_.get_option_no_throw("--" + name);
		return option || name.size() != 1 ? option : app_.get_option_no_throw("-" + name);
	}

	[[nodiscard]] CLI::Option &option_of(const std::string &name, const toml::node &value, std::size_t line) const
	{
		if (value.is_table() || value.is_array_of_tables())
			refuse("there are no sections and no names with dots: options stand for themselves", line);
		CLI::Option *const option = find(name);
		if (!option || !option->get_configurable())
			refuse(in_quotes(name) + " is no option that a file can have; see --help", line);
		return *option;
	}

	/** Returns a value as a command line has it; nothing for what it cannot have. */
	static std::string word_of(const toml::node &value)
	{
		if (const auto *const text = value.as_string())
			return text->get().find('\0') == std::string::npos ? text->get() : std::string();
		std::ostringstream word;
		value.visit([&word](const auto &one) {
			if constexpr (toml::is_value<decltype(one)>)
				word << one;
		});
		return word.str();
	}

	[[nodiscard]] std::vector<std::string> words_of(
		const std::string &name, const toml::node &value, std::size_t line) const
	{
		std::vector<std::string> words;
		if (const toml::array *const list = value.as_array())
			std::transform(list->begin(), list->end(), std::back_inserter(words), word_of);
		else
			words.push_back(word_of(value));
		if (words.empty() || std::find(words.begin(), words.end(), "") != words.end())
			refuse(in_quotes(name) + " has no value that an option can have; " + form, line);
		return words;
	}

	void apply(CLI::Option &option, const CLI::ConfigItem &item, std::size_t line) const
	{
		try {
			give(option, item);
		} catch (const CLI::ParseError &error) {
			refuse(error.what(), line);
		}
	}

	void give(CLI::Option &option, const CLI::ConfigItem &item) const
	{
		if (item.inputs.size() > 1 && option.get_expected_max() <= 1)
			throw CLI::ConversionError(in_quotes(item.name) + " has " + std::to_string(item.inputs.size()) +
							   " values; it takes one",
				CLI::ExitCodes::ConversionError);
		if (option.get_expected_min() == 0)
			option.add_result(option.get_flag_value(item.name, to_flag(item)));
		else
			option.add_result(item.inputs);
		option.run_callback();
	}

	CLI::App &app_;
	const std::string option_;
	std::string path_;
	std::string text_;
};

} // namespace

CommandLine::CommandLine(const std::string &description, const std::string &program)
	: CommandLine(std::make_unique<CLI::App>(description, program))
{
	keep_standard_numbers();
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
	const auto file = std::make_shared<ConfigFile>(app(), names);
	app().set_config(names, "", help)->check([file](const std::string &path) { return file->read(path); });
	app().config_formatter(file);
}

namespace
{

/** Refuses "--log=", as left by an unset variable: CLI11 would take the next word for the value. */
void check_values(int argc, const char *const *argv)
{
	for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; i++) {
		const std::string_view word = argv[i];
		if (word.starts_with("--") && word.find('=') == word.size() - 1)
			throw CLI::ArgumentMismatch(
				std::string(word.substr(0, word.size() - 1)) + ": there is no value behind the =",
				CLI::ExitCodes::ArgumentMismatch);
	}
}

void parse_line(CLI::App &app, int argc, const char *const *argv)
{
	check_values(argc, argv);
	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &) {
		throw;
	} catch (const CLI::ParseError &) {
		/* The value of an unknown option has been taken for a positional argument: the error is the option. */
		const std::vector<std::string> unknown = app.remaining(true);
		if (!unknown.empty() && unknown.front().starts_with("-") && unknown.front() != "--")
			throw CLI::ExtrasError(std::vector{unknown.front()});
		throw;
	}
}

} // namespace

std::optional<EarlyExit> CommandLine::parse(int argc, const char *const *argv)
try {
	if (auto description = description_if_asked(app(), argc, argv))
		return description;
	parse_line(app(), argc, argv);
	return std::nullopt;
} catch (const CLI::ParseError &error) {
	return early_exit(app(), error);
} catch (const std::bad_alloc &) {
	return EarlyExit{1, std::string(no_memory) + "\n"};
}

std::optional<EarlyExit> CommandLine::parse(std::string_view program, int argc, const char *const *argv)
try {
	if (auto description = description_if_asked(app(), argc, argv))
		return description;
	parse_line(app(), argc, argv);
	return std::nullopt;
} catch (const CLI::Success &success) {
	return early_exit(app(), success);
} catch (const CLI::ParseError &error) {
	return usage_error(program, error.what());
} catch (const std::bad_alloc &) {
	return EarlyExit{1, std::string(program) + ": " + no_memory + "\n"};
}

} // namespace prism::cli
