// Inputs and what becomes of them, as files: tests/scenarios/convert.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/config/config_reader.h"
#include "app/convert/convert.h"

namespace frazil::app {
namespace {

const std::filesystem::path kFolder = "tests/scenarios/convert";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : "(" + path.string() + " cannot be read)";
}

std::optional<Dialect> dialect_of_file(const std::string& name) {
  for (const char* word : {"beam", "connect", "dataflow"}) {
    const std::string middle = std::string(".") + word + ".";
    if (name.find(middle) != std::string::npos && !name.ends_with(".pipeline") && !name.ends_with(".findings")) return dialect_of(word);
  }
  return std::nullopt;
}

std::vector<std::string> inputs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (dialect_of_file(entry.path().filename())) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Converted convert_file(const std::string& name) {
  ForeignPipeline pipeline;
  pipeline.file = name;
  pipeline.text = read_file(kFolder / name);
  return convert_pipeline(*dialect_of_file(name), pipeline);
}

void write_file(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

TEST(Examples, BecomeWhatIsWrittenBesideThem) {
  const bool writes = std::getenv("FRAZIL_WRITE_EXPECTED") != nullptr;
  int compared = 0;
  for (const std::string& name : inputs()) {
    const Converted result = convert_file(name);
    const std::string findings = findings_as_text(name, result.findings, true);
    if (writes) {
      write_file(kFolder / (name + ".findings"), findings);
      if (!result.has_refusals) write_file(kFolder / (name + ".pipeline"), result.yaml);
    }
    EXPECT_EQ(findings, read_file(kFolder / (name + ".findings"))) << name;
    const std::string expected = result.has_refusals ? result.yaml : read_file(kFolder / (name + ".pipeline"));
    EXPECT_EQ(result.yaml, expected) << name;
    EXPECT_EQ(result.has_refusals, name.starts_with("refused_")) << name << "\n" << findings;
    ++compared;
  }
  EXPECT_GE(compared, 9);
}

TEST(Examples, BecomeValidPipelines) {
  for (const std::string& name : inputs()) {
    const Converted result = convert_file(name);
    if (result.has_refusals) continue;
    const ReadConfig read = read_config_text(result.yaml, (kFolder / name).string(), {{}, MissingReference::kWarning});
    EXPECT_FALSE(read.problems.has_errors()) << name << "\n" << read.problems.render() << result.yaml;
    EXPECT_EQ(guess_dialect(read_file(kFolder / name)), dialect_of_file(name)) << name;
  }
}

TEST(Examples, HoldNoSecret) {
  for (const std::string& name : inputs()) {
    const Converted result = convert_file(name);
    EXPECT_EQ((result.yaml + findings_as_text(name, result.findings, true)).find("not-a-real"), std::string::npos) << name;
  }
}

// The page that operators read holds the very table that the code has.
TEST(Examples, ThePageOfNamesIsTheCodes) {
  const std::string page = read_file("docs/operate/migrate.md");
  EXPECT_NE(page.find(foreign_names_as_markdown()), std::string::npos)
      << "write the output of `frazil convert --names` into docs/operate/migrate.md";
}

}  // namespace
}  // namespace frazil::app
