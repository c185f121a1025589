// StatusServer: what a running process says about itself: /metrics (Prometheus), /healthz, /readyz, /status (JSON).
// Owned by the run command; answers are made on the server's lanes from PipelineStatus, which any thread may read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"
#include "base/metrics.h"
#include "base/result.h"
#include "engine/pipeline_status.h"
#include "net/http_server.h"

namespace frazil::app {

// JSON of one pipeline's status; freshness and commit times in seconds.
std::string status_to_json(const engine::StatusView& view);
// {"version": ..., "started": ..., "pipelines": [...]}.
std::string statuses_to_json(const std::vector<engine::StatusView>& views);

// 200 while a pipeline has neither failed nor halted; 200 only when every pipeline is running.
net::HttpReply health_reply(const std::vector<engine::StatusView>& views);
net::HttpReply readiness_reply(const std::vector<engine::StatusView>& views);

// Starts the server as configured, or gives nothing when `http.listen` is off. `pipelines` and `metrics` outlive it.
base::Result<std::unique_ptr<net::HttpServer>> start_status_server(const ProcessConfig& config,
                                                                   std::vector<const engine::PipelineStatus*> pipelines,
                                                                   const base::Metrics& metrics);

}  // namespace frazil::app
