#include "app/manual/manual_page.h"

#include "app/build_version.h"
#include "app/config/option.h"

namespace frazil::app {
namespace {

// Text as roff reads it: no escapes of its own, no request at the start of a line, hyphens that can be copied.
std::string plain(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      continue;  // the mark of code in Markdown
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '^') {
      out += "\\(ha";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(const std::string& text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string title(const std::string& page, const std::string& section) {
  return ".TH " + page + " " + section + " \"\" \"frazil " + kVersion + "\" \"Frazil\"\n";
}

std::string argument_entry(const ArgumentDoc& argument) {
  std::string head;
  for (const std::string& flag : argument.flags) head += (head.empty() ? "" : ", ") + bold(flag);
  if (argument.flags.empty()) head = "\\fI" + plain(argument.name) + "\\fR";
  if (!argument.flags.empty() && argument.takes_value) head += " \\fIvalue\\fR";
  std::string doc = plain(argument.doc);
  if (!argument.words.empty() && argument.doc.find(argument.words.front()) == std::string::npos) {
    doc += ": one of";
    for (const std::string& word : argument.words) doc += " " + plain(word);
  }
  if (!argument.default_text.empty()) doc += " (default: " + plain(argument.default_text) + ")";
  if (!argument.environment.empty()) doc += ", or from the environment variable " + bold(argument.environment);
  return ".TP\n" + head + "\n" + (doc.empty() ? "\\&" : doc) + "\n";
}

std::string synopsis(const CommandTree& command) {
  std::string text = bold("frazil " + command.path);
  bool has_options = false;
  for (const ArgumentDoc& argument : command.arguments) has_options |= !argument.flags.empty();
  if (has_options) text += " [\\fIoptions\\fR]";
  for (const ArgumentDoc& argument : command.arguments) {
    if (!argument.flags.empty()) continue;
    const std::string name = "\\fI" + plain(argument.name) + "\\fR";
    text += argument.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string command_section(const CommandTree& command) {
  std::string text = ".SS " + synopsis(command) + "\n" + plain(command.doc) + ".\n";
  for (const ArgumentDoc& argument : command.arguments) {
    if (argument.flag() != "--help") text += argument_entry(argument);
  }
  return text;
}

std::string type_of(const Option& option) {
  std::string text = option.kind == OptionKind::kChoice ? "" : kind_name(option.kind);
  for (const std::string& value : option.values) text += (text.empty() ? "" : ", ") + value;
  if (option.is_secret) text += ", a secret";
  if (!option.default_text.empty()) text += "; default " + option.default_text;
  if (option.is_required) text += "; required";
  return text;
}

}  // namespace

std::string program_manual(const CommandTree& tree) {
  std::string text = title("FRAZIL", "1");
  text += ".SH NAME\nfrazil \\- move records from Kafka into Apache Iceberg tables, each exactly once\n";
  text += ".SH SYNOPSIS\n";
  std::string lines;
  for (const CommandTree* command : tree.all()) {
    if (command->commands.empty()) lines += (lines.empty() ? "" : ".br\n") + synopsis(*command) + "\n";
  }
  text += lines;
  text +=
      ".SH DESCRIPTION\n" + plain(tree.doc) +
      "\nThe table itself holds the positions of the source, in the same commit as the rows: nothing else is state.\n"
      "A pipeline is described by a YAML file; its options stand in " +
      bold("frazil-pipeline") +
      "(5).\n"
      "Data goes to standard output, messages and the log to standard error.\n";
  text += ".SH COMMANDS\n";
  for (const CommandTree* command : tree.all()) {
    if (command->commands.empty()) text += command_section(*command);
  }
  text +=
      ".SH EXIT STATUS\n.TP\n0\nAll went well; an end by SIGTERM or SIGINT is one.\n.TP\n1\nThe job failed or halted, "
      "or output was lost.\n.TP\n2\nWrong usage or configuration.\n";
  text +=
      ".SH SIGNALS\n.TP\nSIGTERM, SIGINT\nStop reading, commit what is complete, and end. A second one ends at once.\n";
  text += ".SH ENVIRONMENT\n.TP\n" + bold("NO_COLOR") + "\nWhen set and not empty, nothing is printed in bold.\n.TP\n" +
          bold("FRAZIL_CATALOG") + "\nThe file that " + bold("frazil catalog") + " takes without " + bold("--file") +
          ".\n.TP\n" + bold("XDG_RUNTIME_DIR") + ", " + bold("RUNTIME_DIRECTORY") +
          "\nWhere the control socket of a process is, unless its file names another place.\n";
  text += ".SH FILES\n.TP\n\\fI/etc/frazil/NAME.yaml\\fR\nThe pipeline file of the service " +
          bold("frazil@NAME.service") + ".\n.TP\n\\fI/run/frazil/NAME/control.sock\\fR\nIts control socket, for " +
          bold("frazil accept") + ".\n";
  text += ".SH EXAMPLES\n.EX\n" +
          plain(
              "frazil validate orders.yaml\nfrazil run orders.yaml --until-caught-up\n"
              "frazil inspect orders.yaml\nfrazil catalog tables --file orders.yaml") +
          "\n.EE\n";
  return text + ".SH SEE ALSO\n" + bold("frazil-pipeline") + "(5), " + bold("systemctl") + "(1)\n";
}

std::string pipeline_manual() {
  std::string text = title("FRAZIL-PIPELINE", "5");
  text += ".SH NAME\nfrazil-pipeline \\- the file that describes pipelines of frazil\n";
  text += ".SH DESCRIPTION\n" +
          plain(
              "A YAML file that holds one pipeline, or several in a list under \"pipelines\"; the options of the "
              "process then stand beside "
              "that list.\nKeys that are unknown, written twice or of the wrong type are errors; frazil validate FILE "
              "finds all of them.\n") +
          ".PP\nDurations are written 250ms, 5s, 10m, 1h, 7d; sizes 128MB (by 1000) or 2GiB (by 1024).\n" +
          plain(
              "${env:NAME} and ${file:/path} put in an environment variable or the content of a file. Secrets are "
              "given only so.\n");
  const std::pair<const char*, const std::vector<Option>*> parts[] = {{"A PIPELINE", &pipeline_options()},
                                                                      {"THE PROCESS", &process_options()}};
  for (const auto& [heading, options] : parts) {
    text += std::string(".SH ") + heading + "\n";
    for (const Option& option : *options) {
      text += ".TP\n" + bold(shown_path(option)) +
              (option.kind == OptionKind::kSection ? "" : " (" + plain(type_of(option)) + ")") + "\n" +
              plain(option.doc) + "\n";
    }
  }
  return text + ".SH SEE ALSO\n" + bold("frazil") + "(1)\n";
}

}  // namespace frazil::app
