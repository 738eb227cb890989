// RFC 8259 written down once more, slowly and plainly: what a faster reader is compared with. ASCII documents only, no
// limit of depth.
#pragma once

#include <cstring>
#include <string_view>

namespace hookonce {

class JsonGrammar {
 public:
  static bool valid(std::string_view text) {
    JsonGrammar grammar(text);
    grammar.blanks();
    if (!grammar.value()) return false;
    grammar.blanks();
    return grammar.rest_.empty();
  }

 private:
  explicit JsonGrammar(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(const char* set) {
    if (rest_.empty() || rest_[0] == '\0' || std::strchr(set, rest_[0]) == nullptr) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void blanks() {
    while (take_any(" \t\r\n")) {
    }
  }
  bool digits() {
    bool some = false;
    while (take_any("0123456789")) some = true;
    return some;
  }
  bool number() {
    take('-');
    if (!take('0') && !(take_any("123456789") && (digits(), true))) return false;
    if (take('.') && !digits()) return false;
    if (take_any("eE")) {
      take_any("+-");
      if (!digits()) return false;
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (!take('"')) {
      if (rest_.empty() || static_cast<unsigned char>(rest_[0]) < 0x20) return false;
      if (!take('\\')) {
        rest_.remove_prefix(1);
        continue;
      }
      if (take('u')) {
        for (int i = 0; i < 4; ++i) {
          if (!take_any("0123456789abcdefABCDEF")) return false;
        }
      } else if (!take_any("\"\\/bfnrt")) {
        return false;
      }
    }
    return true;
  }
  bool array() {
    blanks();
    if (take(']')) return true;
    while (true) {
      blanks();
      if (!value()) return false;
      blanks();
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }
  bool object() {
    blanks();
    if (take('}')) return true;
    while (true) {
      blanks();
      if (!string()) return false;
      blanks();
      if (!take(':')) return false;
      blanks();
      if (!value()) return false;
      blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }
  bool value() {
    if (take('[')) return array();
    if (take('{')) return object();
    if (!rest_.empty() && rest_[0] == '"') return string();
    return take_word("true") || take_word("false") || take_word("null") || number();
  }

  std::string_view rest_;
};

}  // namespace hookonce
