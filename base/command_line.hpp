/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How programs read their command lines. CLI11 does it, and names and texts are CLI11's, but this header does not
 * include CLI11, which takes seconds to compile: command_line.cpp does, alone.
 *
 * A command line belongs to one thread. What is wrong with how a program declares its options, such as two of one name,
 * is thrown as an exception of CLI11; what is wrong with the line that a user wrote is what parse() returns.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI
{
class App;
class Option;
class Validator;
} // namespace CLI

namespace prism::cli
{

/** The program is to end before it ran: help, version or an error of usage. */
struct EarlyExit {
	int code = 0; /**< 0: help or version */
	std::string text;

	/** Prints the text, to the standard output, or to the standard error for an error. Returns the code; 1 instead
	 * of 0 if it cannot be written. */
	[[nodiscard]] int print() const;
};

/** An error of usage, which ends @p program with 2: "PROGRAM: TEXT", and where its help is. */
[[nodiscard]] EarlyExit usage_error(std::string_view program, std::string_view text);

/* What a program says -------------------------------------------------------------------------------------------- */

/**
 * Says @p text on the standard error, as "PROGRAM: TEXT". Control characters, which may be a peer's, are escaped, but
 * for new lines. That nobody hears it changes nothing: the exit code tells as well. Any thread.
 */
void complain(std::string_view text);

/* The end of a program ------------------------------------------------------------------------------------------- */

/**
 * From here on a reader of an output that is gone (SIGPIPE) and a file that may not grow (SIGXFSZ) are errors of who
 * writes, and do not end the program: for servers and whoever else must end in order.
 */
void outlive_outputs() noexcept;

/**
 * What main() returns when the program has printed all that it will: @p code. If the standard output did not take all
 * of it, because a disk is full or a reader is gone, a line says so, and 0 becomes 1.
 */
[[nodiscard]] int finish_output(int code = 0);

/** Runs a program that prints: finish_output() of what @p body returns; of 1 if it throws a std::system_error, as fmt
 * does when the output takes nothing. */
[[nodiscard]] int run_program(const std::function<int()> &body);

/* What a value must be --------------------------------------------------------------------------------------------- */

/** One of those below, which all are cheap to copy. */
class Check
{
protected:
	explicit Check(std::shared_ptr<const CLI::Validator> validator) : validator_(std::move(validator)) {}

private:
	friend class Option;
	std::shared_ptr<const CLI::Validator> validator_;
};

/** A number, from @p least to @p most; of what type, help says. */
struct Range : Check {
	Range(int least, int most);
	Range(std::uint32_t least, std::uint32_t most);
	Range(std::uint64_t least, std::uint64_t most);
	Range(double least, double most);
};

/** A number of seconds: from 0 to 1,000,000. */
struct Seconds : Check {
	Seconds();
};

/** A number above 0. */
struct PositiveNumber : Check {
	PositiveNumber();
};

/** A number, 0 or above. */
struct NonNegativeNumber : Check {
	NonNegativeNumber();
};

/** A file that is there, and no folder. */
struct ExistingFile : Check {
	ExistingFile();
};

/** A folder that is there. */
/** Not the nothing that a variable of a shell leaves which is not set. */
struct NotEmpty : Check {
	NotEmpty();
};

struct ExistingDirectory : Check {
	ExistingDirectory();
};

struct IgnoreCase {
};
inline constexpr IgnoreCase ignore_case;

/** One of these. */
struct IsMember : Check {
	IsMember(std::initializer_list<int> numbers);
	IsMember(std::initializer_list<const char *> words);
	IsMember(std::initializer_list<const char *> words, IgnoreCase /*unused*/);
	explicit IsMember(const std::vector<std::string> &words);

	/** One of the keys of a map. */
	template <typename Map>
	explicit IsMember(const Map &map) requires requires
	{
		map.begin()->first;
	} : IsMember(keys_of(map)) {}

private:
	template <typename Map>
	static std::vector<std::string> keys_of(const Map &map)
	{
		std::vector<std::string> keys;
		for (const auto &[key, value] : map)
			keys.push_back(key);
		return keys;
	}
};

/* Options ---------------------------------------------------------------------------------------------------------- */

/** An option of a command, which owns it: this is a handle, valid as long as the command line is there. */
class Option
{
public:
	/** Each of its values must be that. */
	Option check(const Check &check) const;
	/** The same for a check of one's own: given a value, it returns what is wrong, or nothing. */
	Option check(const std::function<std::string(const std::string &)> &problem) const;
	/** It must be there. */
	Option required() const;
	/** Both of them together are an error. */
	Option excludes(const Option &other) const;
	/** Help tells what the variable is by now. */
	Option capture_default_str() const;
	/** A word may be several values, with this between them. */
	Option delimiter(char between) const;

private:
	friend class Command;
	explicit Option(CLI::Option *option) : option_(option) {}

	CLI::Option *option_;
};

/** A word that stands for a value. */
template <typename Enum>
struct Choice {
	std::string word;
	Enum value;
};

/**
 * A command line or a subcommand of one: a handle, valid as long as the command line is there. Variables that options
 * have are written while the line is parsed, and must be there until then.
 */
class Command
{
public:
	/**
	 * An option with a value, or, if @p names has no dash, an argument that is known by its place. Numbers must be
	 * finite, and fit their type.
	 * @param names such as "-p,--port", without spaces, '=' and ':', which newer releases of CLI11 do not take:
	 *        otherwise std::invalid_argument is thrown
	 * @param target is left as it is if the option is not given. Its type is one of those that command_line.cpp
	 *        lists; the linker misses others.
	 */
	template <typename Target>
	Option add_option(const std::string &names, Target &target, const std::string &help = {});

	/** An option without a value, which makes @p target true; or false, if its name has a '!' in front. */
	Option add_flag(const std::string &names, bool &target, const std::string &help);
	/** The same, but @p target is 0 before, and is how often it was given. */
	Option add_flag(const std::string &names, int &target, const std::string &help);

	/** An option whose value is one of the words of @p choices. @p target: what its values can be assigned to. */
	template <typename Enum, typename Target>
	Option add_choice(const std::string &names, Target &target, const std::vector<Choice<Enum>> &choices,
		const std::string &help)
	{
		std::vector<std::string> words;
		std::vector<Enum> values;
		for (const Choice<Enum> &choice : choices) {
			words.push_back(choice.word);
			values.push_back(choice.value);
		}
		return add_word(
			names, words, [&target, values](std::size_t choice) { target = values[choice]; }, help);
	}

	Command add_subcommand(const std::string &name, const std::string &help);
	/** The line must have so many subcommands. */
	void require_subcommand(int number);
	/** Is called when the whole line was parsed, if it has this subcommand. */
	void callback(const std::function<void()> &action);
	/** Has the line this subcommand? */
	[[nodiscard]] bool parsed() const;
	/** How often the line has the option, or the argument, of this name. */
	[[nodiscard]] std::size_t count(const std::string &name) const;
	/** What help ends with. */
	void footer(const std::string &text);

protected:
	explicit Command(CLI::App *app) : app_(app) {}
	[[nodiscard]] CLI::App &app() const { return *app_; }

private:
	/** @param choose is told which of @p words it is */
	Option add_word(const std::string &names, const std::vector<std::string> &words,
		const std::function<void(std::size_t)> &choose, const std::string &help);

	CLI::App *app_;
};

/** The command line of a program, with -h and --help. */
class CommandLine : public Command
{
public:
	/**
	 * @param description what help begins with
	 * @param program its name, for help; without it, what the user has called
	 */
	explicit CommandLine(const std::string &description, const std::string &program = {});
	~CommandLine();
	CommandLine(const CommandLine &) = delete;
	CommandLine &operator=(const CommandLine &) = delete;

	/** Adds -V and --version: @p program and PRISM's version. */
	void add_version(std::string_view program);
	/** Adds that, and help with the same words, instead of CLI11's. */
	void add_help_and_version(std::string_view program);

	/**
	 * Adds an option whose value is a file that has more options, a line each, by the rules of TOML: their long
	 * names without dashes. What the line itself says comes first. Errors name the file, the line and the option: a
	 * file that cannot be read or is no text, a name that is no option's or is there twice, a value that the option
	 * refuses.
	 */
	void add_config(const std::string &names, const std::string &help);

	/**
	 * Reads the line.
	 * @return nothing, or what the program is to end with. An error has CLI11's code and words.
	 */
	[[nodiscard]] std::optional<EarlyExit> parse(int argc, const char *const *argv);
	/** The same, but an error is a usage_error() of @p program. */
	[[nodiscard]] std::optional<EarlyExit> parse(std::string_view program, int argc, const char *const *argv);

private:
	explicit CommandLine(std::unique_ptr<CLI::App> app);

	std::unique_ptr<CLI::App> owned_;
};

} // namespace prism::cli
