#include "app/convert/jaas.h"

#include <array>

namespace frazil::app {
namespace {

constexpr char kProperties[] = "source.kafka.properties";

// Reads words, quoted texts, '=' and ';' one after the other.
class JaasTokens {
 public:
  explicit JaasTokens(std::string_view text) : text_(text) {}

  // An empty view at the end, or after a text that was never closed.
  std::string next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (at_ == text_.size()) return "";
    const char first = text_[at_];
    if (first == '=' || first == ';') return std::string(1, text_[at_++]);
    if (first == '"' || first == '\'') return quoted(first);
    const size_t end = std::min(text_.find_first_of(" \t\r\n=;", at_), text_.size());
    const std::string word(text_.substr(at_, end - at_));
    at_ = end;
    return word;
  }

 private:
  std::string quoted(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    at_ = std::min(at_ + 1, text_.size());
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct JaasOption {
  std::string_view module;  // its class ends so
  std::string_view name;
  std::string_view property;  // of librdkafka
  bool is_secret = false;
};
constexpr std::array kOptions = {
    JaasOption{"PlainLoginModule", "username", "sasl.username"},
    JaasOption{"PlainLoginModule", "password", "sasl.password", true},
    JaasOption{"ScramLoginModule", "username", "sasl.username"},
    JaasOption{"ScramLoginModule", "password", "sasl.password", true},
    JaasOption{"Krb5LoginModule", "keyTab", "sasl.kerberos.keytab"},
    JaasOption{"Krb5LoginModule", "principal", "sasl.kerberos.principal"},
    JaasOption{"Krb5LoginModule", "serviceName", "sasl.kerberos.service.name"},
    JaasOption{"OAuthBearerLoginModule", "clientId", "sasl.oauthbearer.client.id"},
    JaasOption{"OAuthBearerLoginModule", "clientSecret", "sasl.oauthbearer.client.secret", true},
    JaasOption{"OAuthBearerLoginModule", "scope", "sasl.oauthbearer.scope"},
};

// Options of Kerberos that only say how Java keeps its ticket.
constexpr std::string_view kKerberosHabits[] = {"useKeyTab", "storeKey", "useTicketCache", "renewTicket", "doNotPrompt", "debug",
                                                "refreshKrb5Config", "isInitiator", "client"};

bool is_known_module(const std::string& module) {
  for (const JaasOption& option : kOptions) {
    if (module.ends_with(option.module)) return true;
  }
  return false;
}

bool is_habit(const std::string& name) {
  for (const std::string_view habit : kKerberosHabits) {
    if (name == habit) return true;
  }
  return false;
}

void translate_option(Conversion& conversion, const Given& login, const std::string& module, const std::string& name,
                      const std::string& value) {
  const Given given{login.name + " (" + name + ")", name, login.mark, login.value};
  for (const JaasOption& option : kOptions) {
    if (!module.ends_with(option.module) || option.name != name) continue;
    const std::string property(option.property);
    const std::string text = option.is_secret ? conversion.secret(given, value, "KAFKA_" + variable_name(property)) : keep_references(value);
    conversion.draft.set_property(kProperties, property, text);
    if (!option.is_secret || has_reference(value)) conversion.honoured(given, "`" + property + "`");
    return;
  }
  if (is_habit(name)) return conversion.not_needed(given, "librdkafka keeps its ticket by itself");
  conversion.refused(given, "this option of the login module has no counterpart: leave it out, or ask for another way to log in");
}

}  // namespace

std::optional<JaasLogin> parse_jaas(std::string_view text) {
  JaasTokens tokens(text);
  JaasLogin login;
  login.module = tokens.next();
  const std::string flag = tokens.next();
  if (login.module.empty() || (flag != "required" && flag != "requisite" && flag != "sufficient" && flag != "optional")) return std::nullopt;
  for (std::string name = tokens.next(); !name.empty() && name != ";"; name = tokens.next()) {
    if (tokens.next() != "=") return std::nullopt;
    login.options[name] = tokens.next();
  }
  return login;
}

void translate_jaas(Conversion& conversion, const Given& given) {
  const auto login = parse_jaas(given.text());
  if (!login) {
    return conversion.refused(given, "has not the form `Module required name=\"value\";`: set the properties of librdkafka "
                                     "(sasl.username, sasl.password, ...) instead");
  }
  if (!is_known_module(login->module)) {
    return conversion.refused(given, "login module " + login->module + " has no counterpart; there are PLAIN, SCRAM, Kerberos and OAUTHBEARER");
  }
  for (const auto& [name, value] : login->options) translate_option(conversion, given, login->module, name, value);
  if (login->options.empty()) conversion.not_needed(given, "holds no options");
}

}  // namespace frazil::app
