/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The library that reads command lines: values that options write into their variables, and the words of refusals and
 * of help. */
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/printable.hpp"

#include "base/command_line.hpp"

namespace
{

using namespace prism;
using namespace prism::cli;

enum class Colour : std::uint8_t {
	none,
	red,
	green,
};

class CommandLineTest : public testing::Test
{
protected:
	std::optional<EarlyExit> parse(std::vector<const char *> words)
	{
		words.insert(words.begin(), "tool");
		return app_.parse(static_cast<int>(words.size()), words.data());
	}

	void accept(const std::vector<const char *> &words)
	{
		if (const auto early = parse(words))
			ADD_FAILURE() << early->text;
	}

	/* CLI11's codes are among the exit statuses of programs. */
	void refuse(const std::vector<const char *> &words, const std::string &what, int code)
	{
		const auto early = parse(words);
		ASSERT_TRUE(early) << "accepted, expected: " << what;
		EXPECT_EQ(early->text, what + "\nRun with --help for more information.\n");
		EXPECT_EQ(early->code, code);
	}

	std::string help(const std::vector<const char *> &words = {"--help"})
	{
		const auto early = parse(words);
		if (!early || early->code) {
			ADD_FAILURE() << "no help";
			return {};
		}
		return early->text;
	}

	CommandLine app_{"Tests a library.", "tool"};
};

constexpr int validation_error = 105, required_error = 106, excludes_error = 108, extras_error = 109,
	      mismatch_error = 114;

template <typename Number>
class CommandLineNumber : public CommandLineTest
{
};

using Numbers = testing::Types<int, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t, double>;
TYPED_TEST_SUITE(CommandLineNumber, Numbers);

TYPED_TEST(CommandLineNumber, IsReadAndShown)
{
	TypeParam number = 5;
	this->app_.add_option("-n,--number", number, "A number").capture_default_str();
	EXPECT_NE(this->help().find("=5"), std::string::npos);
	this->accept({});
	EXPECT_EQ(number, TypeParam{5});
	this->accept({"-n", "7"});
	EXPECT_EQ(number, TypeParam{7});
	this->accept({"--number=9"});
	EXPECT_EQ(number, TypeParam{9});
	const auto early = this->parse({"-n", "many"});
	ASSERT_TRUE(early);
	EXPECT_TRUE(early->text.starts_with("--number: 'many' is no ")) << early->text;
	EXPECT_EQ(early->code, validation_error);
}

TEST_F(CommandLineTest, NumbersAreFinite)
{
	double number = 1, seconds = 2;
	std::vector<double> rates;
	app_.add_option("--number", number);
	app_.add_option("--rates", rates);
	app_.add_option("--seconds", seconds).check(Seconds());
	for (const std::string word : {"nan", "-nan", "inf", "-inf", "infinity", "1e4000", "x"}) {
		refuse({"--number", word.c_str()}, "--number: '" + word + "' is no number", validation_error);
		refuse({("--rates=" + word).c_str()}, "--rates: '" + word + "' is no number", validation_error);
	}
	for (const std::string word : {"-1", "-1e-9", "1e300", "1000001"})
		refuse({("--seconds=" + word).c_str()},
			"--seconds: '" + word + "' is no number of seconds from 0 to 1000000", validation_error);
	refuse({"--seconds", "nan"}, "--seconds: 'nan' is no number", validation_error);
	EXPECT_EQ(number, 1);
	EXPECT_EQ(seconds, 2);
	accept({"--seconds", "1e6", "--number", "-1e300"});
}

/* An unset shell variable leaves an empty value: once the next word was taken for the value. */
TEST_F(CommandLineTest, ValuesThatAreNotThere)
{
	std::string log;
	bool durable = false;
	app_.add_option("--log", log).check(NotEmpty());
	app_.add_flag("--durable", durable, "flag");
	refuse({"--log=", "--durable"}, "--log: there is no value behind the =", mismatch_error);
	refuse({"--log", ""}, "--log: its value is empty", validation_error);
	accept({"--log=a=", "--durable"});
	EXPECT_EQ(log, "a=");
}

/* Otherwise files and sockets of the program's own would get these numbers, and it would print into them. */
TEST(StandardStreams, ThatAreClosedKeepTheirNumbers)
{
	const auto opened_next = [] {
		for (const int stream : {0, 1, 2})
			::close(stream);
		const CommandLine program("description");
		char byte = 0;
		const bool fail = ::read(0, &byte, 1) < 0 && ::write(1, &byte, 1) < 0 && ::write(2, &byte, 1) < 0;
		return fail && ::dup(0) > 2;
	};
	EXPECT_EXIT(std::_Exit(opened_next() ? 3 : 1), testing::ExitedWithCode(3), "");
}

TEST(Complaints, HaveNoControlCharactersAndThrowNothing)
{
	testing::internal::CaptureStderr();
	complain("a\x1b]0;b\nc\xc2\x9b\x7f");
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_TRUE(said.ends_with(": a\\x1b]0;b\nc\\xc2\\x9b\\x7f\n")) << said;
	const auto on_a_full_disk = [] {
		if (!std::freopen("/dev/full", "w", stderr))
			return -1;
		return run_program([] {
			complain("nobody hears it");
			return 3;
		});
	};
	EXPECT_EXIT(std::_Exit(on_a_full_disk()), testing::ExitedWithCode(3), "^$");
}

TEST(Outputs, ThatAreGoneOrMayNotGrowAreErrors)
{
	const auto write_to_a_gone_reader = [] {
		outlive_outputs();
		std::array<int, 2> pipe{};
		if (::pipe(pipe.data()) || ::close(pipe[0]))
			return -1;
		const bool is_gone = ::write(pipe[1], "x", 1) < 0 && errno == EPIPE;
		const rlimit none{.rlim_cur = 0, .rlim_max = 0};
		const int file = ::memfd_create("file", 0);
		const bool is_full = !::setrlimit(RLIMIT_FSIZE, &none) && ::write(file, "x", 1) < 0 && errno == EFBIG;
		return is_gone && is_full ? 7 : 1;
	};
	EXPECT_EXIT(std::_Exit(write_to_a_gone_reader()), testing::ExitedWithCode(7), "");
}

TEST_F(CommandLineTest, NoControlCharacterGoesToTheTerminal)
{
	std::uint16_t port = 0;
	app_.add_option("--port", port);
	refuse({"--port", "1\033[31m"}, "--port: '1\\x1b[31m' is no whole number from 0 to 65535", validation_error);
	const std::vector<const char *> wrong{"tool", "\033c"};
	const auto early = app_.parse("name", 2, wrong.data());
	ASSERT_TRUE(early);
	EXPECT_EQ(early->text, "name: The following argument was not expected: \\x1bc\nTry 'name --help'.\n");
}

class ConfigFileTest : public CommandLineTest
{
protected:
	ConfigFileTest()
	{
		app_.add_config("--config", "File");
		app_.add_option("-p,--port", port_);
		app_.add_option("--names,--aliases", names_);
		app_.add_option("--seconds", seconds_).check(Seconds());
		app_.add_flag("--json", json_, "flag");
	}
	~ConfigFileTest() override { std::filesystem::remove(path_); }

	std::vector<const char *> with(const std::string &text)
	{
		std::ofstream(path_, std::ios::binary) << text;
		return {"--config", path_.c_str()};
	}
	/* Sets @p what to the message for a file that is refused, without what stands in each of them. */
	void expect_refused(const std::string &text, std::string &what)
	{
		const auto early = parse(with(text));
		ASSERT_TRUE(early) << "accepted: " << text;
		const std::string before = "--config: " + path_, behind = "\nRun with --help for more information.\n";
		ASSERT_TRUE(early->text.starts_with(before) && early->text.ends_with(behind)) << early->text;
		what = early->text.substr(before.size(), early->text.size() - before.size() - behind.size());
		EXPECT_TRUE(std::all_of(early->text.begin(), early->text.end(), [](char one) {
			return one == '\n' || (one >= ' ' && one <= '~');
		})) << early->text;
	}
	void refuse_file(const std::string &text, const std::string &what)
	{
		std::string found;
		expect_refused(text, found);
		EXPECT_EQ(found, what);
	}
	/* The reason is in the words of the library that reads TOML. */
	void refuse_form(const std::string &text, int line)
	{
		std::string found;
		expect_refused(text, found);
		EXPECT_TRUE(found.starts_with(", line " + std::to_string(line) + ": ")) << text << ": " << found;
		EXPECT_TRUE(found.ends_with(form_)) << text << ": " << found;
	}

	const std::string form_ = R"(; write NAME = 7 or NAME = "text", or of several a list, NAME = ["a", "b"])";
	const std::string path_ = testing::TempDir() + "prism-config-" + std::to_string(getpid());
	std::uint16_t port_ = 1;
	std::vector<std::string> names_;
	double seconds_ = 3;
	bool json_ = false;
};

TEST_F(ConfigFileTest, ItsOptionsAreThoseOfTheLineWhichComesFirst)
{
	accept(with("# a comment\nport = 7\n\naliases = [\"one\", \"two\"]\njson = true\nseconds = 0.5\n"));
	EXPECT_EQ(port_, 7);
	EXPECT_EQ(names_, (std::vector<std::string>{"one", "two"}));
	EXPECT_TRUE(json_);
	EXPECT_EQ(seconds_, 0.5);
	auto words = with("port = 7\nseconds = 0.5\n");
	words.insert(words.end(), {"-p", "8"});
	accept(words);
	EXPECT_EQ(port_, 8);
	EXPECT_EQ(seconds_, 0.5);
	words = with("port = 7\naliases = [\"one\", \"two\"]\nnames = \"three\"\n");
	words.insert(words.end(), {"--names", "four", "--port=9"});
	accept(words);
	EXPECT_EQ(port_, 9);
	EXPECT_EQ(names_, std::vector<std::string>{"four"});
}

TEST_F(ConfigFileTest, ErrorsNameFileLineAndOption)
{
	refuse_file("port = 7\nnonsense = 1\n", ", line 2: 'nonsense' is no option that a file can have; see --help");
	refuse_file("config = \"x\"\n", ", line 1: 'config' is no option that a file can have; see --help");
	refuse_file("\nport = 99999\n", ", line 2: --port: '99999' is no whole number from 0 to 65535");
	refuse_file("seconds = nan\n", ", line 1: --seconds: 'nan' is no number");
	refuse_file("seconds = -1\n", ", line 1: --seconds: '-1' is no number of seconds from 0 to 1000000");
	refuse_file("port = 7\njson = 'maybe'\n", ", line 2: Could not convert: --json = maybe");
	refuse_file("port = 7\np = 8\n", ", line 2: 'p' is there twice; remove one");
	refuse_file("port = [7, 8]\n", ", line 1: 'port' has 2 values; it takes one");
	refuse_file("names = 'a'\nport = 8\naliases = 'b'\n",
		", line 3: 'aliases' is there twice; write several values as a list, [\"a\", \"b\"]");
	refuse_form("port = 7\nport = 8\n", 2);
	refuse_form("port = 7\njson = true\nport = 8\n", 3);
	for (const std::string line : {"[kv]", "[[kv]]", "kv.port = 1"})
		refuse_file(line + "\nport = 1\n",
			", line 1: there are no sections and no names with dots: options stand for themselves");
	std::string deep = "a";
	for (int i = 0; i < 1001; i++)
		deep += ".a";
	constexpr const char *too_many =
		": there are more than 1000 dots up to here, without those in texts and comments";
	for (const std::string &line : {deep + " = 1", "[" + deep + "]"})
		refuse_file("port = 7\n" + line + "\n", std::string(", line 2") + too_many);
	/* The parts of names add up over the lines of a list. */
	const std::string half = deep.substr(0, deep.size() / 2);
	refuse_file(
		"x = [\n{" + half + " = [\n{" + half + " = [\n{b.b = 1}]}]}]\n", std::string(", line 4") + too_many);
	std::string long_name;
	expect_refused(std::string(1 << 19, 'x') + " = 1\n", long_name);
	EXPECT_TRUE(long_name.starts_with(", line 1: 'xxx") && long_name.size() < 5000) << long_name.size();
	/* A text may seem to begin where it ends, so nothing is taken for text in such a line. */
	refuse_file("names = [\"\"\" \"a ' \"\"\", {" + deep + " = 1}]\n", std::string(", line 1") + too_many);
	EXPECT_FALSE(parse(with("# " + deep + "\nnames = \"" + deep + "\\\"#" + deep + "\" # " + deep + "\n")));
}

/* Messages stay text whatever a user has typed, or a peer has said. */
TEST(Printable, ControlsAndWhatIsNoTextAreEscaped)
{
	using prism::apps::printable;
	EXPECT_EQ(printable("a\tb\x7f\n"), "a\\x09b\\x7f\\x0a");
	EXPECT_EQ(printable("a\nb\t", true), "a\nb\\x09");
	EXPECT_EQ(printable("a\u202eb\u2069"), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa9");
	EXPECT_EQ(printable("\u200f\u2028\u061c", true), "\\xe2\\x80\\x8f\\xe2\\x80\\xa8\\xd8\\x9c");
	for (const std::string text :
		{"z\xc3\xbcrich", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xc2\xa0", "\xf4\x8f\xbf\xbf"})
		EXPECT_EQ(printable(text), text);
	EXPECT_EQ(printable("\xc2\x9b"
			    "31m"),
		"\\xc2\\x9b31m")
		<< "a control character of 8-bit terminals";
	EXPECT_EQ(printable("\x9b"), "\\x9b");
	EXPECT_EQ(printable("h\xffst"), "h\\xffst");
	EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut short";
	EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "too long a form";
	EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
	EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST_F(ConfigFileTest, ValuesAndCommentsAreThoseOfToml)
{
	accept(with("\"port\"=7 # c\nnames = [ # of lines\n\t\"a#1, b\",\r\n'b\\', # c\n\"[\\\"\\\\\", "
		    "\"\\u0064\",\n]# end"));
	EXPECT_EQ(port_, 7);
	EXPECT_EQ(names_, (std::vector<std::string>{"a#1, b", "b\\", "[\"\\", "d"}));
	accept(with("port = 0x1F\nseconds = 1e3\nnames = [1_000, -2.5, true, 2026-11-29, '''a\nb''']"));
	EXPECT_EQ(port_, 31);
	EXPECT_EQ(seconds_, 1000);
	EXPECT_EQ(names_, (std::vector<std::string>{"1000", "-2.5", "true", "2026-11-29", "a\nb"}));
	for (const std::string value :
		{"\"a", "'a", "\"a\\\"", "[\"a, b]", "[\"a\", '", "word", "[word]", "key#1", "127.0.0.1", "/a/b",
			R"("\x")", "\"a\" \"b\"", "{a}", "[\"a\" 'b']", "[1, , 2]", "[\"a, \"b\"]", "", "# none"})
		refuse_form("port = 7\nnames = " + value + "\n", 2);
	for (const std::string value : {"\"\"", "[]", "[[1]]", "[\"a\", \"\"]", R"("a\u0000b")"})
		refuse_file(
			"port = 7\nnames = " + value, ", line 2: 'names' has no value that an option can have" + form_);
	refuse_form("names = [1\njson = true\n", 2);
	refuse_form("json\n", 1);
	refuse_form("\"json = true\n", 1);
}

TEST_F(ConfigFileTest, WhatIsNoTextIsNotShown)
{
	refuse_form("port = 1\n\033]0;title\007", 2);
	refuse_form(std::string("po\0rt = 1", 9), 1);
	refuse_form("port = 1\nn\xc3\xb6 = 1", 2);
	refuse_form("port = 1\nnames = \"\xff\"", 2);
	refuse_file("\"n\xc3\xb6\" = 1", ", line 1: 'n\\xc3\\xb6' is no option that a file can have; see --help");
	refuse_file(std::string((1 << 20) + 1, 'a'), ": this is longer than 1 MiB");
	refuse_file(std::string(5000, 'a') + " = 1",
		", line 1: '" + std::string(60, 'a') + "...' is no option that a file can have; see --help");
	refuse({"--config", "/none"}, "--config: cannot read '/none': No such file or directory", validation_error);
	refuse({"--config", "/"}, "--config: cannot read '/': Is a directory", validation_error);
	const std::string no_file = "': it is no regular file; copy what it gives into one, and name that";
	/* Some files of /proc wait, as kmsg, or do not end. */
	for (const std::string file : {"/dev/zero", "/proc/self/pagemap", "/proc/uptime"})
		refuse({"--config", file.c_str()}, "--config: cannot read '" + file + no_file, validation_error);
	const std::string pipe = path_ + "-pipe"; /* no process writes */
	ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
	refuse({"--config", pipe.c_str()}, "--config: cannot read '" + pipe + no_file, validation_error);
	std::filesystem::remove(pipe);
}

/* Runs a program that prints @p bytes bytes to a device that is always full. */
int print_to_full_disk(std::size_t bytes, int code)
{
	if (!std::freopen("/dev/full", "w", stdout))
		return -1;
	return run_program([&] {
		std::fputs(std::string(bytes, 'x').c_str(), stdout);
		return code;
	});
}

TEST(Output, ThatIsNotWrittenFailsTheProgram)
{
	const std::string what = "cannot write to the standard output";
	EXPECT_EXIT(
		std::_Exit(print_to_full_disk(5, 0)), testing::ExitedWithCode(1), what + ": No space left on device");
	EXPECT_EXIT(std::_Exit(print_to_full_disk(1 << 20, 0)), testing::ExitedWithCode(1), what);
	EXPECT_EXIT(std::_Exit(print_to_full_disk(5, 3)), testing::ExitedWithCode(3), what);
	EXPECT_EXIT(std::_Exit(print_to_full_disk(0, 0)), testing::ExitedWithCode(0), "^$");
	EXPECT_EXIT(std::_Exit(run_program([]() -> int { throw std::system_error(EPERM, std::generic_category()); })),
		testing::ExitedWithCode(1), "Operation not permitted");
}

TEST_F(CommandLineTest, NumbersOfATypeThatCannotHoldThem)
{
	std::uint16_t port = 0;
	std::uint64_t large = 0;
	app_.add_option("--port", port);
	app_.add_option("--large", large);
	refuse({"--port", "65536"}, "--port: '65536' is no whole number from 0 to 65535", validation_error);
	refuse({"--port", "-1"}, "--port: '-1' is no whole number from 0 to 65535", validation_error);
	refuse({"--large", "-1"}, "--large: '-1' is no whole number from 0 to 18446744073709551615", validation_error);
	refuse({"--large", "1e10"},
		"--large: '1e10' is no whole number from 0 to 18446744073709551615, in digits alone", validation_error);
	for (const std::string octal : {"010", "-010", "08"})
		refuse({"--large", octal.c_str()},
			"--large: '" + octal + "' begins with 0; write the number without that", validation_error);
	accept({"--large", "0x10"});
	EXPECT_EQ(large, 16U);
	accept({"--large", "18446744073709551615"});
	EXPECT_EQ(large, UINT64_MAX);
}

TEST_F(CommandLineTest, OptionalNumbers)
{
	std::optional<int> index;
	std::optional<std::uint16_t> port;
	std::optional<std::uint32_t> size;
	std::optional<std::uint64_t> records;
	app_.add_option("--index", index);
	app_.add_option("--port", port);
	app_.add_option("--size", size);
	app_.add_option("--records", records);
	accept({});
	EXPECT_FALSE(index || port || size || records);
	accept({"--index=-1", "--port=2", "--size=3", "--records=4"});
	EXPECT_EQ(index, -1);
	EXPECT_EQ(port, 2);
	EXPECT_EQ(size, 3U);
	EXPECT_EQ(records, 4U);
}

TEST_F(CommandLineTest, TextsAndPaths)
{
	std::string text = "nothing";
	std::filesystem::path path = "here";
	app_.add_option("TEXT", text, "What is said").capture_default_str();
	app_.add_option("--path", path, "Where").capture_default_str();
	const std::string shown = help();
	EXPECT_NE(shown.find("TEXT TEXT=nothing"), std::string::npos) << shown;
	EXPECT_NE(shown.find("--path TEXT=here"), std::string::npos) << shown;
	accept({"a word", "--path", "/there"});
	EXPECT_EQ(text, "a word");
	EXPECT_EQ(path, "/there");
	refuse({"one", "two"}, "The following argument was not expected: two", extras_error);
}

TEST_F(CommandLineTest, Lists)
{
	std::vector<std::string> words{"first"};
	std::vector<std::filesystem::path> paths;
	std::vector<unsigned> numbers;
	std::vector<double> delays;
	app_.add_option("PATH", paths);
	app_.add_option("-w", words).capture_default_str();
	app_.add_option("-n", numbers).delimiter(',');
	app_.add_option("-d", delays).delimiter(',');
	EXPECT_NE(help().find("=[first] ..."), std::string::npos);
	accept({"a", "b", "-w", "c", "-w", "d", "-n", "1,2", "-d", "0.5,1"});
	EXPECT_EQ(paths, (std::vector<std::filesystem::path>{"a", "b"}));
	EXPECT_EQ(words, (std::vector<std::string>{"c", "d"}));
	EXPECT_EQ(numbers, (std::vector<unsigned>{1, 2}));
	EXPECT_EQ(delays, (std::vector<double>{0.5, 1}));
}

TEST_F(CommandLineTest, Flags)
{
	bool loud = false, load = true;
	int often = 5;
	app_.add_flag("-l,--loud", loud, "Be loud");
	app_.add_flag("--load,!--no-load", load, "Load");
	app_.add_flag("-F", often, "As often as you like");
	accept({"-l", "--no-load", "-F", "-F"});
	EXPECT_TRUE(loud);
	EXPECT_FALSE(load);
	EXPECT_EQ(often, 2);
	EXPECT_EQ(app_.count("--loud"), 1U);
	EXPECT_EQ(app_.count("-F"), 2U);
}

TEST_F(CommandLineTest, Ranges)
{
	int number = 0;
	double share = 0;
	std::uint64_t large = 0;
	std::uint32_t size = 0;
	app_.add_option("-n", number).check(Range(1, 5));
	app_.add_option("-f", share).check(Range(0.5, 1.5));
	app_.add_option("-l", large).check(Range(std::uint64_t{1}, std::uint64_t{1} << 40));
	app_.add_option("-s", size).check(Range(8U, 16U));
	const std::string shown = help();
	for (const char *words : {"-n INT:INT in [1 - 5]", "-f FLOAT:FLOAT in [0.5 - 1.5]",
		     "-l UINT:UINT in [1 - 1099511627776]", "-s UINT:UINT in [8 - 16]"})
		EXPECT_NE(shown.find(words), std::string::npos) << words << " in " << shown;
	accept({"-n", "5", "-f", "0.5", "-l", "1099511627776", "-s", "8"});
	refuse({"-n", "6"}, "-n: Value 6 not in range 1 to 5", validation_error);
	refuse({"-f", "0.4"}, "-f: Value 0.4 not in range 0.500000 to 1.500000", validation_error);
	refuse({"-l", "0"}, "-l: Value 0 not in range 1 to 1099511627776", validation_error);
	refuse({"-s", "x"}, "-s: 'x' is no whole number from 0 to 4294967295", validation_error);
}

TEST_F(CommandLineTest, Signs)
{
	double above = 0, not_below = 0;
	app_.add_option("-a", above, "Above").check(PositiveNumber());
	app_.add_option("-n", not_below, "Not below").check(NonNegativeNumber());
	EXPECT_NE(help().find("-a FLOAT:POSITIVE"), std::string::npos);
	EXPECT_NE(help().find("-n FLOAT:NONNEGATIVE"), std::string::npos);
	accept({"-a", "0.1", "-n", "0"});
	for (const std::vector<const char *> &words :
		std::vector<std::vector<const char *>>{{"-a", "0"}, {"-n", "-1"}}) {
		const auto early = parse(words);
		ASSERT_TRUE(early);
		EXPECT_NE(early->text.find("is no number "), std::string::npos) << early->text;
		EXPECT_EQ(early->code, validation_error);
	}
}

TEST_F(CommandLineTest, Members)
{
	const std::map<std::string, Colour> colours{{"red", Colour::red}, {"green", Colour::green}};
	std::string store, colour, mix;
	std::uint32_t mtu = 0;
	app_.add_option("--store", store, "A word").check(IsMember({"rs", "abdlock"}));
	app_.add_option("--colour", colour, "A key").check(IsMember(colours));
	app_.add_option("--mix", mix, "A letter").check(IsMember({"A", "B"}, ignore_case));
	app_.add_option("--mtu", mtu, "A number").check(IsMember({256, 512}));
	const std::string shown = help();
	for (const char *words : {"--store TEXT:{rs,abdlock}", "--colour TEXT:{green,red}", "--mtu UINT:{256,512}"})
		EXPECT_NE(shown.find(words), std::string::npos) << words << " in " << shown;
	accept({"--store=rs", "--colour=red", "--mix=b", "--mtu=256"});
	EXPECT_EQ(mtu, 256U);
	refuse({"--store=kv"}, "--store: kv not in {rs,abdlock}", validation_error);
	refuse({"--colour=blue"}, "--colour: blue not in {green,red}", validation_error);
	refuse({"--mix=c"}, "--mix: c not in {A,B}", validation_error);
	refuse({"--mtu=300"}, "--mtu: 300 not in {256,512}", validation_error);
}

TEST_F(CommandLineTest, FilesAndDirectories)
{
	std::filesystem::path file, folder;
	app_.add_option("--file", file).check(ExistingFile());
	app_.add_option("--folder", folder).check(ExistingDirectory());
	accept({"--file=/dev/null", "--folder=/"});
	refuse({"--file=/none"}, "--file: File does not exist: /none", validation_error);
	refuse({"--file=/"}, "--file: File is actually a directory: /", validation_error);
	refuse({"--folder=/none"}, "--folder: Directory does not exist: /none", validation_error);
	refuse({"--folder=/dev/null"}, "--folder: Directory is actually a file: /dev/null", validation_error);
}

std::string not_seven(const std::string &text)
{
	return text == "7" ? "seven is taken" : "";
}

TEST_F(CommandLineTest, ChecksOfOnesOwn)
{
	std::vector<std::string> words;
	app_.add_option("-w", words).check(not_seven);
	accept({"-w", "6", "-w", "8"});
	refuse({"-w", "6", "-w", "7"}, "-w: seven is taken", validation_error);
}

TEST_F(CommandLineTest, Choices)
{
	Colour colour = Colour::none;
	std::optional<Colour> other;
	app_.add_choice<Colour>("--colour", colour, {{"red", Colour::red}, {"green", Colour::green}}, "Of it");
	app_.add_choice<Colour>("--other", other, {{"red", Colour::red}}, "Of another");
	EXPECT_NE(help().find("--colour TEXT:{green,red}"), std::string::npos);
	accept({"--colour", "green"});
	EXPECT_EQ(colour, Colour::green);
	EXPECT_FALSE(other);
	accept({"--other", "red"});
	EXPECT_EQ(other, Colour::red);
	refuse({"--colour", "blue"}, "--colour: blue not in {green,red}", validation_error);
}

TEST_F(CommandLineTest, NamesThatNotEachReleaseOfTheParserTakes)
{
	std::string text;
	bool flag = false;
	for (const char *const name : {"KEY=VALUE", "KEY AMOUNT", "HOST:PORT"}) {
		EXPECT_THROW(app_.add_option(name, text), std::invalid_argument) << name;
		EXPECT_THROW(app_.add_flag(std::string("--") + name, flag, ""), std::invalid_argument) << name;
	}
}

TEST_F(CommandLineTest, RequiredAndExcluded)
{
	std::string name;
	bool one = false, other = false;
	app_.add_option("--name", name).required();
	const Option first = app_.add_flag("--one", one, "One");
	app_.add_flag("--other", other, "Other").excludes(first);
	accept({"--name", "x", "--one"});
	EXPECT_EQ(app_.count("--name"), 1U);
	EXPECT_EQ(app_.count("--other"), 0U);
	refuse({"--one"}, "--name is required", required_error);
	refuse({"--name", "x", "--one", "--other"}, "--one excludes --other", excludes_error);
}

TEST_F(CommandLineTest, Subcommands)
{
	std::string key;
	int calls = 0;
	Command get = app_.add_subcommand("get", "Print a value");
	Command stats = app_.add_subcommand("stats", "Print all");
	get.add_option("KEY", key, "Its key").required();
	get.callback([&] { calls++; });
	app_.require_subcommand(1);
	app_.footer("That is all.");
	EXPECT_TRUE(help().ends_with("\nThat is all.\n")) << help();
	EXPECT_NE(help({"get", "--help"}).find("KEY TEXT REQUIRED"), std::string::npos);
	EXPECT_EQ(calls, 0);
	accept({"get", "a"});
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(key, "a");
	EXPECT_TRUE(get.parsed());
	EXPECT_FALSE(stats.parsed());
	refuse({}, "A subcommand is required", required_error);
	refuse({"get"}, "KEY is required", required_error);
	refuse({"nonsense"}, "A subcommand is required", required_error);
}

TEST_F(CommandLineTest, AnUnknownOptionIsToldBeforeWhatItsValueIsTakenFor)
{
	unsigned number = 0;
	app_.add_option("NUMBER", number, "A number").required();
	refuse({"--bogus", "text", "7"}, "The following argument was not expected: --bogus", extras_error);
	refuse({"--bogus"}, "The following argument was not expected: --bogus", extras_error);
	for (const auto &words : {std::vector<const char *>{"text"}, {"--", "text"}})
		refuse(words, "NUMBER: 'text' is no whole number from 0 to 4294967295", validation_error);
}

TEST_F(CommandLineTest, HelpAndVersion)
{
	EXPECT_EQ(help({"-h"}), "Tests a library.\nUsage: tool [OPTIONS]\n\nOptions:\n"
				"  -h,--help                   Print this help message and exit\n\n");
	app_.add_help_and_version("tool");
	EXPECT_EQ(help(), "Tests a library.\nUsage: tool [OPTIONS]\n\nOptions:\n"
			  "  -h,--help                   Print this help and exit\n"
			  "  -V,--version                Print the version and exit\n\n");
	for (const char *flag : {"-V", "--version"}) {
		const auto early = parse({flag});
		ASSERT_TRUE(early);
		EXPECT_EQ(early->code, 0);
		EXPECT_TRUE(early->text.starts_with("tool ")) << early->text;
		EXPECT_TRUE(early->text.ends_with("\n"));
	}
}

TEST_F(CommandLineTest, ErrorsOfAProgram)
{
	const std::vector<const char *> wrong{"tool", "--bogus"}, help{"tool", "--help"}, nothing{"tool"};
	auto early = app_.parse("name", 2, wrong.data());
	ASSERT_TRUE(early);
	EXPECT_EQ(early->code, 2);
	EXPECT_EQ(early->text, "name: The following argument was not expected: --bogus\nTry 'name --help'.\n");
	early = app_.parse("name", 2, help.data());
	ASSERT_TRUE(early);
	EXPECT_EQ(early->code, 0);
	EXPECT_TRUE(early->text.starts_with("Tests a library.\n"));
	EXPECT_FALSE(app_.parse("name", 1, nothing.data()));
}

TEST_F(CommandLineTest, DescribesItselfForCompletions)
{
	Colour colour = Colour::none;
	bool quiet = false, fast = true;
	std::string key;
	app_.add_choice<Colour>("-c,--colour", colour, {{"red", Colour::red}, {"green", Colour::green}}, "Of it");
	app_.add_flag("!--no-speed", fast, "Slowly");
	Command get = app_.add_subcommand("get", "Get it");
	get.add_option("KEY", key, "Of it,\nwhatever it is").required();
	get.add_flag("-q", quiet, "Quietly");
	const auto early = parse({"--describe-options"});
	ASSERT_TRUE(early);
	EXPECT_EQ(early->code, 0);
	EXPECT_EQ(early->text, "option\t\t-h,--help\t\tPrint this help message and exit\n"
			       "option\t\t-c,--colour\tTEXT:{green,red}\tOf it\n"
			       "option\t\t--no-speed{false}\t\tSlowly\n"
			       "command\tget\tGet it\n"
			       "option\tget\t-h,--help\t\tPrint this help message and exit\n"
			       "argument\tget\tKEY\tTEXT\tOf it, whatever it is\n"
			       "option\tget\t-q\t\tQuietly\n");
	refuse({"--describe-options", "get", "x"}, "The following argument was not expected: --describe-options",
		extras_error);
}

TEST(EarlyExitTest, IsPrintedWhereItBelongs)
{
	testing::internal::CaptureStdout();
	testing::internal::CaptureStderr();
	EXPECT_EQ((EarlyExit{0, "help\n"}.print()), 0);
	EXPECT_EQ((usage_error("name", "wrong").print()), 2);
	EXPECT_EQ(testing::internal::GetCapturedStdout(), "help\n");
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "name: wrong\nTry 'name --help'.\n");
}

} // namespace
