#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/accepted_choice.h"
#include "app/commands/commands.h"
#include "app/control/control_protocol.h"
#include "app/control/control_socket.h"
#include "app/terminal.h"
#include "net/line_server.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kAnswerWithinMs = 10'000;

struct AcceptArguments {
  std::string pipeline;
  std::string answer;
  std::string socket;
  bool list = false;
  bool json = false;
};

// A text of an answer; empty where there is none.
std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Json list_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : Json::array();
}

// What a process answered, and where it listens.
struct Reply {
  std::string socket;
  Json json;
};

base::Result<Reply> ask(const std::string& socket, const std::string& request) {
  TRY_ASSIGN(const std::string line, net::ask_line(socket, request, kAnswerWithinMs));
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("ok")) return base::unavailable(socket + " is no control socket of frazil: it answered " + line.substr(0, 200));
  return Reply{socket, std::move(json)};
}

// The running processes; those that cannot be reached are left out when none was named.
base::Result<std::vector<Reply>> list_processes(const std::string& socket) {
  std::vector<Reply> replies;
  if (!socket.empty()) {
    TRY_ASSIGN(Reply reply, ask(socket, list_request()));
    replies.push_back(std::move(reply));
    return replies;
  }
  for (const std::string& likely : likely_control_sockets()) {
    if (auto reply = ask(likely, list_request()); reply.ok()) replies.push_back(std::move(reply).value());
  }
  if (replies.empty()) {
    return base::not_found("no control socket of a running process was found; give --socket PATH, as the log of the process names it "
                           "(\"control socket listens\")");
  }
  return replies;
}

bool has_pipeline(const Reply& reply, const std::string& name) {
  const Json pipelines = list_at(reply.json, "pipelines");
  return std::any_of(pipelines.begin(), pipelines.end(), [&name](const Json& one) { return text_at(one, "pipeline") == name; });
}

// Where the pipeline runs, when no socket was named.
base::Result<std::string> socket_of(const std::string& pipeline) {
  TRY_ASSIGN(const std::vector<Reply> replies, list_processes(""));
  std::vector<std::string> found;
  for (const Reply& reply : replies) {
    if (has_pipeline(reply, pipeline)) found.push_back(reply.socket);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return base::invalid("no process that was found has a pipeline " + pipeline);
  std::string names;
  for (const std::string& one : found) names += "\n  " + one;
  return base::invalid("several processes have a pipeline " + pipeline + "; name one by --socket:" + names);
}

int fail(const base::Error& error) {
  tell("error: " + error.message());
  return error.code() == base::Code::kInvalid ? kExitUsage : kExitFailed;
}

std::string list_text(const Reply& reply) {
  std::string text = reply.socket + "\n";
  for (const Json& one : list_at(reply.json, "pipelines")) {
    text += "  " + text_at(one, "pipeline") + ": " + text_at(one, "state");
    if (!one.contains("halt")) {
      text += "\n";
      continue;
    }
    const Json& halt = one["halt"];
    text += ": " + text_at(halt, "code") + "\n    " + text_at(halt, "text") + "\n";
    for (const Json& choice : list_at(halt, "choices")) {
      text += "    choice " + text_at(choice, "choice") + ": " + text_at(choice, "meaning") + "\n      frazil accept " +
              text_at(one, "pipeline") + " " + text_at(choice, "accept") + " --socket " + reply.socket + "\n";
    }
  }
  return text;
}

int list_command(const AcceptArguments& arguments) {
  const auto replies = list_processes(arguments.socket);
  if (!replies.ok()) return fail(replies.error());
  Json all = Json::array();
  std::string text;
  for (const Reply& reply : *replies) {
    all.push_back({{"socket", reply.socket}, {"pipelines", list_at(reply.json, "pipelines")}});
    text += list_text(reply);
  }
  put(arguments.json ? all.dump(2) + "\n" : text);
  return kExitOk;
}

int accept_command(const AcceptArguments& arguments) {
  if (arguments.list) return list_command(arguments);
  if (arguments.pipeline.empty() || arguments.answer.empty()) {
    tell("error: give PIPELINE and CODE[=choice]@TOKEN, as the halt printed them, or --list");
    return kExitUsage;
  }
  if (const auto well_formed = parse_accepted_choice(arguments.answer); !well_formed.ok()) return fail(well_formed.error());
  const auto socket = arguments.socket.empty() ? socket_of(arguments.pipeline) : base::Result<std::string>(arguments.socket);
  if (!socket.ok()) return fail(socket.error());
  const auto reply = ask(*socket, accept_request(arguments.pipeline, arguments.answer));
  if (!reply.ok()) return fail(reply.error());
  const Json& json = reply->json;
  if (arguments.json) put(json.dump() + "\n");
  if (json["ok"] != true) {
    tell("error: " + text_at(json, "error"));
    return text_at(json, "code") == base::code_name(base::Code::kInvalid) ? kExitUsage : kExitFailed;
  }
  if (!arguments.json) {
    put("pipeline " + arguments.pipeline + " starts again with " + text_at(json, "code") + "=" + text_at(json, "choice") +
        ", decided by " + text_at(json, "user") + "\n");
  }
  return kExitOk;
}

}  // namespace

void add_accept(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<AcceptArguments>();
  CLI::App* command = app.add_subcommand("accept", "Answer the halt of a pipeline while others of its process run");
  command->add_option("PIPELINE", arguments->pipeline, "name of the halted pipeline");
  command->add_option("ANSWER", arguments->answer, "CODE[=choice]@TOKEN as the halt printed it");
  command->add_option("--socket", arguments->socket, "control socket of the process; found by itself unless several have such a pipeline");
  command->add_flag("--list", arguments->list, "show the pipelines of running processes and what their halts wait for");
  command->add_flag("--json", arguments->json, "the answer as JSON on stdout");
  command->callback([arguments, &chosen] { chosen = [arguments] { return accept_command(*arguments); }; });
}

}  // namespace frazil::app
