#include "app/status_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/build_version.h"
#include "base/clock.h"
#include "base/log.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;
using Views = std::vector<engine::StatusView>;

// Text of others (error messages, topic names) may hold bytes that are not UTF-8.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json time_or_null(int64_t micros) {
  return micros > 0 ? Json(base::format_utc(micros)) : Json(nullptr);
}

Json lag_of(const engine::StatusView& view) {
  Json splits = Json::array();
  int64_t total = 0;
  bool is_known = !view.lag.empty();  // who reads nothing, perhaps not yet, knows of no lag
  for (const engine::SplitLag& split : view.lag) {
    splits.push_back({{"split", split.split},
                      {"position", split.position},
                      {"lag", split.lag < 0 ? Json(nullptr) : Json(split.lag)}});
    is_known = is_known && split.lag >= 0;
    total += std::max<int64_t>(split.lag, 0);
  }
  return {{"records", is_known ? Json(total) : Json(nullptr)}, {"splits", splits}};
}

double seconds_since(base::MonoMicros moment) {
  return static_cast<double>(base::mono_micros() - moment) / 1e6;
}

Json source_of(const engine::StatusView& view) {
  const bool is_connected = view.source.disconnected_since == 0;
  Json json = {{"connected", is_connected}};
  if (!is_connected) {
    json["disconnected_seconds"] = seconds_since(view.source.disconnected_since);
    json["problem"] = view.source.problem;
  }
  json["stuck"] = Json::array();
  for (const engine::StuckSplit& stuck : view.source.stuck) {
    json["stuck"].push_back({{"split", stuck.split},
                             {"position", stuck.position},
                             {"waiting", stuck.waiting},
                             {"seconds", seconds_since(stuck.since)},
                             {"reason", stuck.reason}});
  }
  return json;
}

Json to_json(const engine::StatusView& view) {
  Json json = {{"pipeline", view.pipeline}, {"state", view.state}, {"detail", view.detail}};
  if (!view.halt_code.empty()) json["halt"] = view.halt_code;
  json["started"] = time_or_null(view.started_micros);
  json["records_read"] = view.records_read;
  json["bytes_read"] = view.bytes_read;
  json["rows_committed"] = view.rows_committed;
  json["dead_letters"] = view.dead_letters;
  json["tombstones"] = view.tombstones;
  json["skipped"] = view.skipped;
  json["empty_arrays"] = view.empty_arrays;
  json["rejects"] = Json::object();
  for (const auto& [code, count] : view.rejects) json["rejects"][code] = count;
  json["unknown_fields"] = view.unknown_fields;
  json["duplicate_keys"] = view.duplicate_keys;
  json["commits"] = {{"count", view.commits},
                     {"stale_epochs", view.stale_epochs},
                     {"merged_epochs", view.merged_epochs},
                     {"starved_seconds", view.commit_starved_seconds},
                     {"last", time_or_null(view.last_commit_micros)},
                     {"last_snapshot_id", view.last_snapshot_id},
                     {"seconds_p50", view.commit_seconds_p50},
                     {"seconds_p99", view.commit_seconds_p99}};
  json["files"] = {{"count", view.files}, {"bytes", view.file_bytes}, {"bytes_p50", view.file_bytes_p50}};
  json["freshness"] = {{"rows", view.freshness_rows},
                       {"seconds_p50", view.freshness_p50},
                       {"seconds_p95", view.freshness_p95},
                       {"seconds_p99", view.freshness_p99}};
  json["memory"] = {{"used", view.memory_used}, {"limit", view.memory_limit}};
  json["lag"] = lag_of(view);
  json["source"] = source_of(view);
  return json;
}

// A broker that restarts is no reason to take a worker for unfit.
constexpr double kOutageCountsSeconds = 10;

bool is_cut_off(const engine::StatusView& view) {
  return view.source.disconnected_since != 0 && seconds_since(view.source.disconnected_since) >= kOutageCountsSeconds;
}

bool has_failed(const engine::StatusView& view) {
  return view.state == "failed" || view.state == "halted";
}

net::HttpReply answer(const Views& views, bool is_good, const char* good) {
  if (is_good) return {200, "text/plain; charset=utf-8", std::string(good) + "\n"};
  std::string body;
  for (const auto& view : views) {
    body += view.pipeline + ": " + view.state + (view.detail.empty() ? "" : ": " + view.detail);
    if (is_cut_off(view)) {
      body += ": without its source for " + std::to_string(static_cast<int64_t>(seconds_since(view.source.disconnected_since))) +
              " s: " + view.source.problem;
    }
    body += "\n";
  }
  return {503, "text/plain; charset=utf-8", body};
}

// Which program this is, as a metric that is always 1.
std::string build_info() {
  return std::string("# HELP frazil_build_info The program that runs.\n# TYPE frazil_build_info gauge\n") +
         "frazil_build_info{version=\"" + kVersion + "\",commit=\"" + kCommit + "\"} 1\n";
}

Views view_all(const std::vector<const engine::PipelineStatus*>& pipelines) {
  Views views;
  for (const auto* pipeline : pipelines) views.push_back(pipeline->view());
  return views;
}

}  // namespace

std::string status_to_json(const engine::StatusView& view) {
  return dump(to_json(view));
}

std::string statuses_to_json(const Views& views) {
  Json pipelines = Json::array();
  for (const auto& view : views) pipelines.push_back(to_json(view));
  return dump({{"version", kVersion}, {"time", base::format_utc(base::wall_micros())}, {"pipelines", pipelines}});
}

net::HttpReply health_reply(const Views& views) {
  return answer(views, !std::all_of(views.begin(), views.end(), has_failed), "healthy");
}

net::HttpReply readiness_reply(const Views& views) {
  return answer(views,
                std::all_of(views.begin(), views.end(),
                            [](const auto& view) { return view.state == "running" && !is_cut_off(view); }),
                "ready");
}

base::Result<std::unique_ptr<net::HttpServer>> start_status_server(const ProcessConfig& config,
                                                                   std::vector<const engine::PipelineStatus*> pipelines,
                                                                   const base::Metrics& metrics) {
  if (!config.listen) return std::unique_ptr<net::HttpServer>();
  net::HttpServerConfig server;
  server.host = config.listen->host;
  server.port = config.listen->port;
  server.moves_if_busy = !config.listen_is_set;
  server.routes["/metrics"] = [&metrics] {
    return net::HttpReply{200, "text/plain; version=0.0.4; charset=utf-8", build_info() + metrics.render_prometheus()};
  };
  server.routes["/healthz"] = [pipelines] { return health_reply(view_all(pipelines)); };
  server.routes["/readyz"] = [pipelines] { return readiness_reply(view_all(pipelines)); };
  server.routes["/status"] = [pipelines] {
    return net::HttpReply{200, "application/json", statuses_to_json(view_all(pipelines))};
  };
  TRY_ASSIGN(auto started, net::HttpServer::start(std::move(server)).in("http.listen"));
  if (started->has_moved()) {
    base::log_warn("the default status port is busy, took another", {{"address", started->address()}});
  }
  base::log_info("status server listens", {{"address", started->address()}});
  return started;
}

}  // namespace frazil::app
