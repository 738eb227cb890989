#include "cli/man_text.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

// Text that roff takes as text.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string option_text(const OptionInfo& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!option.value.empty()) head += (head.empty() ? "\\fI" : " \\fI") + roff(option.value) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.about));
}

std::string footer_text(std::string_view footer) {
  return footer.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
}

void add_commands(const CommandInfo& command, std::string& out) {
  for (const CommandInfo& child : command.commands) {
    out += fmt::format(".SS hookonce {}\n{}\n", roff(child.path), roff(child.about));
    for (const OptionInfo& option : child.options) out += option_text(option);
    out += footer_text(child.footer);
    add_commands(child, out);
  }
}

}  // namespace

std::string man_text(const CommandInfo& program, std::string_view version) {
  std::string out = fmt::format(".TH HOOKONCE 1 \"\" \"hookonce {}\"\n", roff(version));
  out += fmt::format(".SH NAME\nhookonce \\- {}\n", roff(program.about));
  out += ".SH SYNOPSIS\n\\fBhookonce\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  add_commands(program, out);
  out += ".SH ENVIRONMENT\n";
  out += ".TP\n\\fBHOOKONCE_ADMIN\\fR\nThe gateway's admin address, for the commands that ask one.\n";
  out += ".TP\n\\fBHOOKONCE_TOKEN\\fR\nIts admin token, likewise.\n";
  out += ".TP\n\\fBNO_COLOR\\fR\nWhere it is set, nothing is coloured.\n";
  out += ".SH NOTES\n" + footer_text(program.footer);
  return out;
}

}  // namespace hookonce
