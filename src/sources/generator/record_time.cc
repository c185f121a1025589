#include "sources/generator/record_time.h"

namespace frazil::sources {

namespace {

constexpr int64_t kMicrosPerDay = 86400000000;

void append_digits(int64_t value, int digits, std::string& out) {
  char text[20];
  for (int i = digits - 1; i >= 0; --i, value /= 10) text[i] = static_cast<char>('0' + value % 10);
  out.append(text, static_cast<size_t>(digits));
}

}  // namespace

// Days to year, month, day in the proleptic Gregorian calendar, counted in eras of 400 years that begin in March.
void append_iso_date(int64_t days, std::string& out) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  append_digits(year_of_era + era * 400 + (month <= 2 ? 1 : 0), 4, out);
  out += '-';
  append_digits(month, 2, out);
  out += '-';
  append_digits(day, 2, out);
}

void append_iso_clock(int64_t micros, std::string& out) {
  append_digits(micros / 3600000000, 2, out);
  out += ':';
  append_digits(micros / 60000000 % 60, 2, out);
  out += ':';
  append_digits(micros / 1000000 % 60, 2, out);
  out += '.';
  append_digits(micros % 1000000, 6, out);
}

void append_iso_time(int64_t micros, std::string& out) {
  int64_t days = micros / kMicrosPerDay;
  if (micros % kMicrosPerDay < 0) --days;
  append_iso_date(days, out);
  out += 'T';
  append_iso_clock(micros - days * kMicrosPerDay, out);
}

}  // namespace frazil::sources
