// The engine's exception type and the check for broken promises inside the program.
#include "engine/error.h"

#include <utility>

namespace engine {

Error::Error(ErrorKind kind, std::string subject, std::string why, std::string fix)
    : std::runtime_error(subject + ": " + why + ": " + fix),
      m_kind(kind),
      m_subject(std::move(subject)),
      m_why(std::move(why)),
      m_fix(std::move(fix)) {}

void checkFailed(const char* condition, const char* file, int line, const char* text) {
    throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + text + " (" + condition + ")");
}

}  // namespace engine
