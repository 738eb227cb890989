#include "cli/completion_text.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

// Text within single quotes of all three shells: what would end them is left out, since it only informs.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c != '\'' && c != '\\' && c != '\n') out.push_back(c);
  }
  return out + "'";
}

bool takes_file(const OptionInfo& option) {
  return option.value.find("FILE") != std::string::npos;
}

std::string words_of(const CommandInfo& command) {
  std::string words;
  for (const CommandInfo& child : command.commands) words += child.name + " ";
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : option.names.empty() ? option.words : option.names) words += name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

bool has_file_argument(const CommandInfo& command) {
  for (const OptionInfo& option : command.options) {
    if (option.names.empty() && takes_file(option)) return true;
  }
  return false;
}

// One case for each command, by the words that lead to it.
void add_bash_cases(const CommandInfo& command, std::string& out) {
  out += fmt::format("    {})\n      words={}\n", quoted(command.path), quoted(words_of(command)));
  if (has_file_argument(command)) out += "      files=1\n";
  for (const OptionInfo& option : command.options) {
    if (option.names.empty() || option.value.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : "|") + name;
    out += fmt::format("      case $previous in {}) words={}; files={} ;; esac\n", names,
                       quoted(join(option.words, " ")), takes_file(option) ? 1 : 0);
  }
  out += "      ;;\n";
  for (const CommandInfo& child : command.commands) add_bash_cases(child, out);
}

// The words of nested commands: after "store", "copy" leads on.
void add_parents(const CommandInfo& command, std::string& out) {
  for (const CommandInfo& child : command.commands) {
    out += fmt::format("        {}) path={} ;;\n", quoted(command.path + "/" + child.name), quoted(child.path));
    add_parents(child, out);
  }
}

std::string bash_text(const CommandInfo& program) {
  std::string parents;
  add_parents(program, parents);
  std::string cases;
  add_bash_cases(program, cases);
  return fmt::format(R"(# bash completion for hookonce: source <(hookonce completion bash)
_hookonce() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= words= files=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case $path/${{COMP_WORDS[i]}} in
{}    esac
  done
  case $path in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _hookonce hookonce
)",
                     parents, cases);
}

void add_zsh_cases(const CommandInfo& command, std::string& out) {
  out += fmt::format("    {})\n", quoted(command.path));
  for (const OptionInfo& option : command.options) {
    if (option.words.empty()) continue;
    if (option.names.empty()) {
      out += fmt::format("      compadd -- {}\n", join(option.words, " "));
    } else {
      out += fmt::format("      if [[ $previous == ({}) ]]; then compadd -- {}; return; fi\n", join(option.names, "|"),
                         join(option.words, " "));
    }
  }
  if (!command.commands.empty()) {
    out += "      words=(";
    for (const CommandInfo& child : command.commands) out += " " + quoted(child.name + ":" + child.about);
    out += " )\n      _describe command words\n";
  }
  out += "      options=(";
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : option.names) out += " " + quoted(name + ":" + option.about);
  }
  out += " )\n      _describe -o option options\n";
  for (const OptionInfo& option : command.options) {
    if (!takes_file(option)) continue;
    if (option.names.empty()) {
      out += "      _files\n";
    } else {
      for (const std::string& name : option.names) out += fmt::format("      [[ $previous == {} ]] && _files\n", name);
    }
  }
  out += "      ;;\n";
  for (const CommandInfo& child : command.commands) add_zsh_cases(child, out);
}

std::string zsh_text(const CommandInfo& program) {
  std::string parents;
  add_parents(program, parents);
  std::string cases;
  add_zsh_cases(program, cases);
  return fmt::format(R"(#compdef hookonce
# zsh completion for hookonce: hookonce completion zsh > a folder of your fpath/_hookonce
_hookonce() {{
  local path= previous=${{words[CURRENT-1]}} word
  local -a given=(${{words[2,CURRENT-1]}}) words options
  for word in $given; do
    case $path/$word in
{}    esac
  done
  case $path in
{}  esac
}}
if [ "$funcstack[1]" = _hookonce ]; then _hookonce "$@"; else compdef _hookonce hookonce; fi
)",
                     parents, cases);
}

void add_fish_lines(const CommandInfo& command, std::string& out) {
  const std::string condition = quoted(fmt::format("__hookonce_at {}", command.path.empty() ? "-" : command.path));
  for (const CommandInfo& child : command.commands) {
    out += fmt::format("complete -c hookonce -n {} -a {} -d {}\n", condition, child.name, quoted(child.about));
  }
  for (const OptionInfo& option : command.options) {
    if (option.names.empty()) {
      if (takes_file(option)) out += fmt::format("complete -c hookonce -n {} -F\n", condition);
      if (!option.words.empty()) {
        out += fmt::format("complete -c hookonce -n {} -a {}\n", condition, quoted(join(option.words, " ")));
      }
      continue;
    }
    out += fmt::format("complete -c hookonce -n {}", condition);
    for (const std::string& name : option.names) {
      out += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) out += takes_file(option) ? " -r -F" : " -x";
    if (!option.words.empty()) out += fmt::format(" -a {}", quoted(join(option.words, " ")));
    out += fmt::format(" -d {}\n", quoted(option.about));
  }
  for (const CommandInfo& child : command.commands) add_fish_lines(child, out);
}

std::string fish_text(const CommandInfo& program) {
  std::string parents;
  add_parents(program, parents);
  // fish's switch takes patterns without a closing parenthesis.
  std::string steps;
  for (std::size_t at = 0; at < parents.size();) {
    const std::size_t end = parents.find('\n', at);
    const std::string line = parents.substr(at, end - at);
    const std::size_t close = line.find(") path=");
    steps += fmt::format("      case {}\n        set path {}\n", line.substr(8, close - 8),
                         line.substr(close + 7, line.size() - close - 10));
    at = end + 1;
  }
  std::string lines;
  add_fish_lines(program, lines);
  return fmt::format(
      R"(# fish completion for hookonce: hookonce completion fish > ~/.config/fish/completions/hookonce.fish
function __hookonce_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path/$word"
{}    end
  end
  test "$path" = (string replace -r '^-$' '' -- "$argv")
end
complete -c hookonce -f
{})",
      steps, lines);
}

}  // namespace

std::optional<std::string> completion_text(std::string_view shell, const CommandInfo& program) {
  if (shell == "bash") return bash_text(program);
  if (shell == "zsh") return zsh_text(program);
  if (shell == "fish") return fish_text(program);
  return std::nullopt;
}

}  // namespace hookonce
