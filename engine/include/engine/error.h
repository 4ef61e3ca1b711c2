// Errors of the engine: one exception type whose text always says what failed, why, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace engine {

/// Who can put it right: the caller by asking for something else (Usage, exit code 2),
/// or nobody by the options alone (Failure, exit code 1).
enum class ErrorKind { Usage = 1, Failure = 2 };

/// Thrown for anything that ends a unit of work (a run, a load, a save). Caught in exactly one place per
/// program: the job worker. `what()` reads "subject: why: fix", the form the command line prints.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, std::string subject, std::string why, std::string fix);

    ErrorKind kind() const { return m_kind; }
    const std::string& subject() const { return m_subject; }  ///< what failed, with its name: "--heads 3"
    const std::string& why() const { return m_why; }          ///< the cause: "does not divide d-model 256"
    const std::string& fix() const { return m_fix; }          ///< what to do: "use 1, 2, 4, 8, …"

private:
    ErrorKind m_kind;
    std::string m_subject;
    std::string m_why;
    std::string m_fix;
};

/// Reports a broken promise inside the program (never something a user can cause) and throws std::logic_error.
[[noreturn]] void checkFailed(const char* condition, const char* file, int line, const char* text);

}  // namespace engine

#define ENGINE_CHECK(condition, text) \
    ((condition) ? static_cast<void>(0) : ::engine::checkFailed(#condition, __FILE__, __LINE__, text))
